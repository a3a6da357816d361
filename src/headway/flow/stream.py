"""The fluent face of a flow: each call returns a new stream and runs nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from headway.errors import FlowError
from headway.flow.expression import Expression
from headway.flow.graph import Flow
from headway.flow.pairs import BasePair, Pair, WindowPair
from headway.flow.sql import parse_expression
from headway.flow.steps import Filter, Map, Merge, OnError, PairStep, Reduce, Sink, Step
from headway.flow.topics import Target, in_kafka
from headway.flow.windows import Window, parse_window
from headway.units import Duration

SINK_KINDS = ("console", "spool", "parquet", "kafka")
WINDOW_COLUMNS = ("window_start", "window_end")


@dataclass(frozen=True)
class Stream:
    """Records on their way; `columns` is None where they cannot be known before the start."""

    steps: tuple[Step, ...]
    columns: tuple[str, ...] | None
    by: tuple[str, ...] = ()
    over: Window | None = None
    reduced: bool = False

    def map(self, *select: str, key: str | tuple[str, ...] | None = None) -> Stream:
        """Select SQL expressions of each record, and say which columns are its key."""
        self._no_window_pending("map")
        if not select:
            raise FlowError("map needs at least one SQL expression, for example map('*')")
        parsed = tuple(parse_expression(text) for text in select)
        columns = self._selected(parsed)
        keys = self._key(key, columns) if key is not None else ()
        step = Map(self._name("map", repr(select)), (self._head,), parsed)
        return replace(self, steps=(*self.steps, step), columns=columns, by=keys)

    def filter(self, where: str) -> Stream:
        """Keep the records for which an SQL condition holds."""
        self._no_window_pending("filter")
        condition = parse_expression(where)
        self._check(condition)
        if condition.aggregate or condition.generator:
            raise FlowError(f"filter {where!r} must be a condition on one record")
        step = Filter(self._name("filter", where), (self._head,), condition)
        return replace(self, steps=(*self.steps, step))

    def key(self, *columns: str) -> Stream:
        """Say which columns are the key."""
        return replace(self, by=self._key(columns, self.columns))

    def window(
        self, size: Duration, slide: Duration | None = None, *, lateness: Duration = "0s"
    ) -> Stream:
        """Put the next reduce or pair on time windows; `lateness` is how long stragglers count."""
        self._no_window_pending("window")
        self._one_stateful_step("window")
        return replace(self, over=parse_window(size, slide, lateness))

    def reduce(self, **aggregates: str) -> Stream:
        """Aggregate the records of each key (and window) with SQL aggregates, by output name."""
        self._one_stateful_step("reduce")
        if not aggregates:
            raise FlowError("reduce needs at least one aggregate, for example reduce(n='count(*)')")
        parsed = tuple(self._aggregate(name, text) for name, text in aggregates.items())
        windowed = WINDOW_COLUMNS if self.over else ()
        for name in aggregates:
            if name in self.by or name in windowed:
                raise FlowError(f"aggregate {name!r} has the name of another column; rename it")
        name = self._name("reduce", f"{self.by} {aggregates} {self.over and self.over.exact}")
        step = Reduce(name, (self._head,), self.by, parsed, self.over)
        columns = (*windowed, *self.by, *aggregates)
        return Stream((*self.steps, step), columns, self.by, None, reduced=True)

    def pair(self, pair: BasePair, *, on_error: OnError = "stop") -> Stream:
        """Run a Python pair; `on_error` says what becomes of a record on which it raises."""
        self._one_stateful_step("pair")
        if not isinstance(pair, BasePair):
            raise FlowError(f"pair needs an instance of headway.Pair or WindowPair; got {pair!r}")
        if isinstance(pair, WindowPair) and self.over is None:
            raise FlowError(f"{pair.name} is a WindowPair; put .window(...) before .pair(...)")
        if isinstance(pair, Pair) and self.over is not None:
            raise FlowError(f"{pair.name} has no finalize; make it a headway.WindowPair")
        if on_error not in ("stop", "quarantine"):
            raise FlowError(f"on_error must be 'stop' or 'quarantine'; got {on_error!r}")
        columns = pair.output().names
        name = self._name(
            "pair", f"{pair.signature} {self.by} {self.over and self.over.exact} {on_error}"
        )
        step = PairStep(name, (self._head,), pair, self.by, self.over, on_error)
        return Stream((*self.steps, step), columns, ("key",), None, reduced=True)

    def merge(self, *others: Stream) -> Stream:
        """The records of this stream and the others, which must have the same columns."""
        self._no_window_pending("merge")
        for other in others:
            if None not in (self.columns, other.columns) and self.columns != other.columns:
                raise FlowError(
                    f"merge needs the same columns on both sides; got {self.columns} and "
                    f"{other.columns}. Put .map(...) before it to line them up"
                )
        steps = tuple(step for stream in (self, *others) for step in stream.steps)
        inputs = (self._head, *(other._head for other in others))
        name = f"merge({'+'.join(inputs)})"
        reduced = self.reduced or any(other.reduced for other in others)
        return Stream((*steps, Merge(name, inputs)), self.columns, self.by, None, reduced)

    def to(self, target: str | Callable[[int, pa.Table], None], name: str | None = None) -> Flow:
        """End the flow in a sink.

        'console', 'spool:FOLDER', 'parquet:FOLDER', 'kafka://HOST:PORT/TOPIC', or a function.
        """
        self._no_window_pending("to")
        where = parse_target(target)
        sink = Sink(name or sink_name(where), (self._head,), where)
        return Flow.of((*self.steps, sink))

    @property
    def _head(self) -> str:
        return self.steps[-1].name

    def _name(self, kind: str, text: str) -> str:
        # Named by what it does to what: equal steps of two branches are one step, computed once.
        return f"{kind}-{hashlib.sha256(f'{self._head} {text}'.encode()).hexdigest()[:8]}"

    def _check(self, expression: Expression) -> None:
        if self.columns is None:
            return
        for name in sorted(expression.columns - set(self.columns)):
            raise FlowError(
                f"{expression.text!r} uses column {name!r}, which is not there; "
                f"the columns are {', '.join(self.columns)}"
            )

    def _selected(self, select: tuple[Expression, ...]) -> tuple[str, ...] | None:
        names: list[str] = []
        for expression in select:
            self._check(expression)
            if expression.aggregate:
                raise FlowError(f"{expression.text!r} aggregates; put it into reduce(...)")
            if expression.is_star:
                if self.columns is None:
                    return None
                names.extend(self.columns)
            elif expression.name is None:
                raise FlowError(f"{expression.text!r} has no name; add AS name")
            else:
                names.append(expression.name)
        for name in names:
            if names.count(name) > 1:
                raise FlowError(f"map makes column {name!r} twice; rename one with AS")
        return tuple(names)

    def _aggregate(self, name: str, text: str) -> Expression:
        parsed = parse_expression(f"{text} AS {name}")
        self._check(parsed)
        if not parsed.aggregate:
            raise FlowError(f"{name}={text!r} is not an aggregate; try count(*), sum(x), max(x)")
        return parsed

    def _key(self, key: str | tuple[str, ...], columns: tuple[str, ...] | None) -> tuple[str, ...]:
        keys = (key,) if isinstance(key, str) else tuple(key)
        if not keys or len(set(keys)) < len(keys):
            raise FlowError(f"a key needs one or more distinct columns; got {keys}")
        for name in keys:
            if columns is not None and name not in columns:
                raise FlowError(
                    f"key {name!r} is not a column; the columns are {', '.join(columns)}"
                )
        return keys

    def _no_window_pending(self, call: str) -> None:
        if self.over is not None:
            raise FlowError(f"a window must be followed by reduce or pair, not by {call}")

    def _one_stateful_step(self, call: str) -> None:
        if self.reduced:
            raise FlowError(
                f"{call} after another reduce or pair: one flow holds one stateful step so far; "
                "send the first answers to a spool and start a second flow from it"
            )


def parse_target(target: Any) -> Target:
    """Read where answers go."""
    if callable(target):
        return Target("callback", getattr(target, "__name__", "function"), target)
    if not isinstance(target, str):
        raise FlowError(f"a sink is a text such as 'spool:answers' or a function; got {target!r}")
    kind, _, address = target.partition(":")
    if kind not in SINK_KINDS:
        raise FlowError(
            f"sink {target!r} is not known; use 'console', 'spool:FOLDER', 'parquet:FOLDER', "
            "'kafka://HOST:PORT/TOPIC' or a function of (batch id, table)"
        )
    if kind == "kafka":
        return Target("kafka", check_kafka(target))
    if kind != "console" and not address:
        raise FlowError(f"sink {target!r} needs a folder, for example '{kind}:answers'")
    return Target(kind, address.removeprefix("//"))  # type: ignore[arg-type]


def check_kafka(target: str) -> str:
    """The servers and topic of a sink, as 'host:port/topic'.

    >>> check_kafka("kafka://localhost:9092/counts")
    'localhost:9092/counts'
    """
    servers, topic = in_kafka(target.removeprefix("kafka://"))
    if not target.startswith("kafka://") or not servers or not topic or "/" in topic:
        raise FlowError(f"sink {target!r} must be 'kafka://HOST:PORT/TOPIC'")
    return f"{servers}/{topic}"


def sink_name(target: Target) -> str:
    """A name for a sink that was given none."""
    return Path(target.address).name or target.kind
