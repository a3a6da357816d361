#!/bin/sh
# Finds Java 17 or newer; installs it with apt when run as root; otherwise says what to install.
set -eu

version_of() { "$1" -version 2>&1 | sed -nE 's/.*version "([0-9]+).*/\1/p' | head -n 1; }
good() { [ -x "$(command -v "$1" 2>/dev/null)" ] && [ "$(version_of "$1")" -ge 17 ] 2>/dev/null; }

if [ -n "${JAVA_HOME:-}" ] && good "$JAVA_HOME/bin/java"; then exit 0; fi
if good java; then exit 0; fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "installing Java 17 with apt" >&2
    apt-get update -qq >&2
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq openjdk-17-jre-headless >&2
    if good java; then exit 0; fi
fi
echo "headway needs Java 17 or newer: install a full JRE (for example openjdk-17-jre-headless) or set JAVA_HOME." >&2
exit 1
