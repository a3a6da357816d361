"""From a topic's description to the topic itself."""

from __future__ import annotations

from pathlib import Path

from headway.engine.topics.port import OpenTopic
from headway.engine.topics.replayed import open_replay
from headway.engine.topics.spooled import OpenSpool
from headway.errors import FlowError, SchemaMismatch, TopicError
from headway.flow.columns.peek import peek_schema
from headway.flow.steps import Sink, Source
from headway.flow.topics import KafkaTopic, Spooled, StreamedFrame, in_kafka


def open_topic(source: Source, folder: Path, t0_us: int) -> OpenTopic:
    """Open a source's topic; replayed files are laid out under `folder` once.

    `t0_us` is when the run began, from which a replay counts; a spool has its own arrival times.
    """
    if isinstance(source.topic, StreamedFrame):
        raise TopicError(
            f"source {source.name!r} is a streaming DataFrame, which only Spark can read; replay a "
            "file or a list to try the flow without Spark"
        )
    if source.schema is None:
        raise TopicError(
            f"the columns of {source.name!r} are not known; declare them with schema='name type'"
        )
    if isinstance(source.topic, KafkaTopic):
        # Here, since every Python process of Spark's opens topics, and few have to do with Kafka.
        from headway.engine.kafka.opened import OpenKafka

        return OpenKafka(source.topic, source.schema)
    if isinstance(source.topic, Spooled):
        return OpenSpool(source.topic.folder, source.schema, source.topic.start)
    return open_replay(source.topic, source.schema, folder / source.name, t0_us)


def check_sink(sink: Sink) -> None:
    """See that the topic is there that answers go to, before a start."""
    if sink.target.kind == "kafka":
        from headway.engine.kafka.client import check_topic

        check_topic(*in_kafka(sink.target.address))


def check_source(source: Source) -> None:
    """Compare the columns that a flow declares with those that its topic has, before a start.

    Of a topic of Kafka's only its existence can be known before its records are read.
    """
    if isinstance(source.topic, KafkaTopic):
        from headway.engine.kafka.client import check_topic

        check_topic(source.topic.servers, source.topic.name)
        return
    if isinstance(source.topic, StreamedFrame):
        return
    try:
        found = peek_schema(source.topic)
    except FlowError:
        # Bad records can make a file's columns impossible to guess; then the declared ones count.
        if source.schema is None:
            raise
        return
    if found is None or source.schema is None or source.schema == found:
        return
    kinds = {column.name: column.type for column in found}
    for column in source.schema:
        fits = kinds.get(column.name) == column.type
        if not fits and isinstance(source.topic, Spooled):
            raise SchemaMismatch(f"source {source.name!r}", str(source.schema), str(found))
        if column.name not in kinds:
            raise SchemaMismatch(f"source {source.name!r}", str(source.schema), str(found))
