#!/bin/sh
# Fetches the jars of Kafka's broker and of Spark's connector into the environment, by Maven; installs
# Maven with apt when run as root. Without them all that needs no Kafka works.
set -eu

target="$1/share/headway/kafka"
[ "$target/.ready" -nt tools/kafka/connector.xml ] && [ "$target/.ready" -nt tools/kafka/broker.xml ] && exit 0
if ! command -v mvn >/dev/null 2>&1 && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "installing Maven with apt" >&2
    apt-get update -qq >&2
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq maven >&2
fi
if ! command -v mvn >/dev/null 2>&1; then
    echo "Kafka is left out: install Maven (mvn) and run make setup again to use it." >&2
    exit 0
fi
mkdir -p "$target"
target=$(cd "$target" && pwd)
for part in connector broker; do
    mvn -q -B -f "tools/kafka/$part.xml" dependency:copy-dependencies -DoutputDirectory="$target/$part" >&2
done
touch "$target/.ready"
