"""A real Kafka broker of one node, for tests, the demo and benchmarks that need one."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic  # type: ignore[attr-defined]

from headway.clock import Clock, SystemClock
from headway.engine.kafka.client import partitions_of, wait_known
from headway.engine.kafka.jars import kafka_jars
from headway.engine.kafka.sink import MARK, VERSION_MARK
from headway.errors import TopicError
from headway.flow.topics import in_kafka
from headway.testing.processes import LEASH, kill_family

LOWEST_PORT, PORTS = 20_000, 12_000
HOST = "127.0.0.1"
PATIENCE_S = 90.0
# One node holds everything once; small internal topics are made sooner.
SETTINGS = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "auto.create.topics.enable": "false",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
    "log.retention.check.interval.ms": "500",
}
JAVA = ("-Xms128m", "-Xmx512m", "-XX:+UseSerialGC", "-Xshare:auto")


class Broker:
    """A broker on a free loopback port; neither it nor its data outlives the block."""

    def __init__(self, settings: dict[str, str] | None = None, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._folder = Path(tempfile.mkdtemp(prefix="headway-broker-"))
        self._process: subprocess.Popen[bytes] | None = None
        try:
            port, controller = free_port(), free_port()
            self.address = f"{HOST}:{port}"
            self._config = self._folder / "server.properties"
            listening = {
                "listeners": f"PLAINTEXT://{self.address},CONTROLLER://{HOST}:{controller}",
                "advertised.listeners": f"PLAINTEXT://{self.address}",
                "controller.quorum.voters": f"1@{HOST}:{controller}",
                "log.dirs": str(self._folder / "data"),
            }
            lines = (SETTINGS | listening | (settings or {})).items()
            self._config.write_text("".join(f"{name}={value}\n" for name, value in lines))
            self._format()
            self.start()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Broker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def at(self) -> str:
        """The broker as flows name it."""
        return f"kafka://{self.address}"

    def start(self) -> None:
        """Start the broker, or start it again with what it holds, and wait until it answers."""
        with (self._folder / "output").open("ab") as output:
            self._process = subprocess.Popen(
                [*LEASH, *self._java("kafka.Kafka"), str(self._config)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        until = self._clock.steady_s() + PATIENCE_S
        while not self._answers():
            if self._process.poll() is not None or self._clock.steady_s() > until:
                raise TopicError(f"the broker did not start:\n{self.tail()}")
            self._clock.sleep(0.1)

    def stop(self) -> None:
        """Stop the broker in good order; its data stays."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(PATIENCE_S)
            self._process = None

    def kill(self) -> None:
        """Kill -9 the broker; its data stays."""
        if self._process is not None:
            kill_family(self._process.pid)
            self._process.wait()
            self._process = None

    def close(self) -> None:
        """Kill the broker and remove its data."""
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    def create(self, *topics: str, partitions: int = 1, **settings: str) -> None:
        """Make topics of a kind; settings are Kafka's, with underscores for dots."""
        wanted = {name.replace("_", "."): value for name, value in settings.items()}
        new = [NewTopic(topic, partitions, 1, config=wanted) for topic in topics]
        admin = self._admin()  # its answers die with it
        for made in admin.create_topics(new, operation_timeout=PATIENCE_S).values():
            made.result(PATIENCE_S)
        for topic in topics:
            wait_known(self._admin(), topic, partitions, self._clock, PATIENCE_S)

    def grow(self, topic: str, partitions: int) -> None:
        """Give a topic more partitions."""
        admin = self._admin()
        for made in admin.create_partitions([NewPartitions(topic, partitions)]).values():
            made.result(PATIENCE_S)

    def tail(self) -> str:
        """The end of what the broker wrote."""
        return (self._folder / "output").read_text(errors="replace")[-4_000:]

    def _admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.address, "log_level": 0})

    def _answers(self) -> bool:
        try:
            return bool(self._admin().list_topics(timeout=1.0).brokers)
        except KafkaException:
            return False

    def _format(self) -> None:
        cluster = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        done = subprocess.run(
            [
                *self._java("kafka.tools.StorageTool"),
                "format",
                f"--cluster-id={cluster}",
                "-c",
                self._config,
            ],  # an id may begin with a dash
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise TopicError(f"the broker's folder could not be made:\n{done.stdout}{done.stderr}")

    def _java(self, main: str) -> list[str]:
        home = os.environ.get("JAVA_HOME")
        java = str(Path(home) / "bin" / "java") if home else "java"
        return [java, *JAVA, "-cp", f"{kafka_jars('broker')}/*", main]


def answers_in(address: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """What a consumer outside sees of a sink's topic now, each row with its batch."""
    return ((int(headers.get(MARK) or b"-1"), row) for headers, row in rows_in(address))


def versions_in(address: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The same, each row with its version."""
    return ((int(headers.get(VERSION_MARK) or b"-1"), row) for headers, row in rows_in(address))


def rows_in(address: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The same, each row with its headers."""
    return ((headers, orjson.loads(value)) for headers, value in messages_in(address))


def messages_in(address: str) -> Iterator[tuple[dict[str, Any], bytes]]:
    """The committed messages of a topic, as bytes, each with its headers."""
    servers, topic = in_kafka(address)
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": f"outside-{uuid.uuid4()}",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
        }
    )
    try:
        places = [TopicPartition(topic, p.partition, 0) for p in partitions_of(servers, topic)]
        consumer.assign(places)
        ended = 0
        while ended < len(places):
            message = consumer.poll(PATIENCE_S)
            if message is None:
                raise TopicError(f"the broker at {servers} does not answer")
            error, value = message.error(), message.value()
            if error is None and value is not None:
                yield dict(message.headers() or []), value
            elif error is not None and error.code() == KafkaError._PARTITION_EOF:
                ended += 1
    finally:
        consumer.close()


def free_port() -> int:
    """A port that nobody listens on, and that no system hands out by itself.

    Clients go on knocking at the port of a broker that has stopped. If Spark then gets the port for
    the one caller that it waits for, the knock takes that caller's place, and the caller waits
    for ever.
    """
    while True:
        port = LOWEST_PORT + secrets.randbelow(PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind((HOST, port))
            return port
