"""The figures of a run as Prometheus scrapes them, served from a thread."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import groupby

import numpy as np

from headway.errors import RunError
from headway.measure.batches import BatchLine
from headway.measure.latency import STEPS
from headway.measure.moments import Moments

BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
CONTENT = "text/plain; version=0.0.4; charset=utf-8"
LATELY = 20  # batches over which a quantile is told


class Totals:
    """What counters need: sums over every batch, whatever part of the log is still in memory."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}
        self.batches: dict[str, int] = {}
        self.buckets: dict[str, list[float]] = {}
        self.sums_s: dict[str, float] = {}
        self.phases_s: dict[tuple[str, str], float] = {}

    def take(self, lines: Iterable[BatchLine]) -> None:
        """Enter the lines that are new."""
        for line in lines:
            if line.batch <= self._last.get(line.query, -1):
                continue
            self._last[line.query] = line.batch
            self.batches[line.query] = self.batches.get(line.query, 0) + 1
            self._enter(line)

    def _enter(self, line: BatchLine) -> None:
        counts = self.buckets.setdefault(line.query, [0.0] * (len(BOUNDS_S) + 1))
        for late_s, share in zip(line.latency_steps, np.diff(STEPS), strict=False):
            counts[bisect_left(BOUNDS_S, late_s)] += float(share) * line.rows
        whole_s = line.rows * float(line.latency.get("mean", 0.0))
        self.sums_s[line.query] = self.sums_s.get(line.query, 0.0) + whole_s
        for name, phase in line.phases.items():
            place = (line.query, name)
            self.phases_s[place] = self.phases_s.get(place, 0.0) + line.rows * phase["mean"]


class Exporter:
    """Serves the figures of a run at /metrics until it is closed."""

    def __init__(
        self,
        port: int,
        lines: Callable[[], Sequence[BatchLine]],
        earlier: Iterable[BatchLine] = (),
    ) -> None:
        self._lines, self._totals, self._lock = lines, Totals(), threading.Lock()
        self._totals.take(earlier)  # counters go on where an earlier start of the run had them
        exporter = self

        class Page(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                exporter.answer(self)

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing: the terminal belongs to the run."""

        try:
            self._server = ThreadingHTTPServer(("127.0.0.1", port), Page)
        except OSError as error:
            raise RunError(
                f"port {port} is taken, so the run's figures cannot be served there ({error}); "
                "give another --metrics-port, or 0 for any that is free"
            ) from error
        self.port = int(self._server.server_address[1])
        serve = threading.Thread(target=self._server.serve_forever, name="headway-metrics")
        serve.daemon = True
        serve.start()

    def text(self) -> str:
        """The figures as they are now."""
        with self._lock:
            lines = list(self._lines())
            self._totals.take(lines)
            return exposition(lines, self._totals)

    def answer(self, page: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        if page.path.rstrip("/") not in ("", "/metrics"):
            page.send_error(404, "the figures are at /metrics")
            return
        body = self.text().encode()
        page.send_response(200)
        page.send_header("Content-Type", CONTENT)
        page.send_header("Content-Length", str(len(body)))
        page.end_headers()
        page.wfile.write(body)

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()


def exposition(lines: Sequence[BatchLine], totals: Totals) -> str:
    """The figures of a run in Prometheus' text form."""
    parts: list[str] = []
    ordered = sorted(lines, key=lambda line: (line.query, line.batch))
    by_query = {query: list(own) for query, own in groupby(ordered, key=lambda line: line.query)}
    last = {query: own[-1] for query, own in by_query.items()}
    parts += family("headway_records", "gauge", "Records by where they are.", [
        ({"query": query, "fate": fate}, count)
        for query, line in last.items() for fate, count in line.account.items()
    ])  # fmt: skip
    parts += family("headway_batches_total", "counter", "Batches answered.", [
        ({"query": query}, count) for query, count in totals.batches.items()
    ])  # fmt: skip
    parts += histogram(totals)
    parts += family("headway_phase_seconds_total", "counter", "Time of records in each phase.", [
        ({"query": query, "phase": phase}, seconds)
        for (query, phase), seconds in totals.phases_s.items()
    ])  # fmt: skip
    parts += family("headway_latency_recent_seconds", "gauge",
                    f"The worst quantile of the last {LATELY} batches.", [
        ({"query": query, "quantile": name}, worst(own[-LATELY:], name))
        for query, own in by_query.items() for name in ("p50", "p99")
    ])  # fmt: skip
    parts += family("headway_interval_seconds", "gauge", "The interval of the last batch.", [
        ({"query": query}, line.interval_s) for query, line in last.items()
    ])  # fmt: skip
    parts += family("headway_moment", "gauge", "Moments of arrivals and service, last seen.", [
        ({"query": query, "of": of, "power": str(power)}, value)
        for query, own in by_query.items() for of, found in newest_moments(own).items()
        for power, value in enumerate((found.first, found.second, found.third), 1)
    ])  # fmt: skip
    return "".join(f"{part}\n" for part in parts)


def histogram(totals: Totals) -> list[str]:
    """Latency as a histogram of cumulative counts."""
    name = "headway_latency_seconds"
    parts = [f"# HELP {name} From arrival to answer.", f"# TYPE {name} histogram"]
    for query, counts in totals.buckets.items():
        reached = np.cumsum(counts)
        for bound, count in zip([*map(str, BOUNDS_S), "+Inf"], reached, strict=True):
            parts.append(sample(f"{name}_bucket", {"query": query, "le": bound}, round(count)))
        parts.append(sample(f"{name}_sum", {"query": query}, totals.sums_s[query]))
        parts.append(sample(f"{name}_count", {"query": query}, round(reached[-1])))
    return parts


def worst(lines: Sequence[BatchLine], name: str) -> float:
    """The highest of a quantile over a few batches."""
    return max((float(line.latency.get(name, 0.0)) for line in lines), default=0.0)


def newest_moments(lines: Sequence[BatchLine]) -> dict[str, Moments]:
    """The last moments of each kind."""
    found: dict[str, Moments] = {}
    for line in lines:
        for name, figures in line.moments.items():
            found[name] = Moments.from_dict(figures)
    return found


def family(
    name: str, kind: str, about: str, values: Iterable[tuple[Mapping[str, str], float]]
) -> list[str]:
    """One metric with all its labels."""
    samples = [sample(name, labels, value) for labels, value in values]
    return [f"# HELP {name} {about}", f"# TYPE {name} {kind}", *samples]


def sample(name: str, labels: Mapping[str, str], value: float) -> str:
    r"""One line of the text.

    >>> sample("seen", {"query": 'a"b'}, 3)
    'seen{query="a\\"b"} 3'
    """
    inner = ",".join(f'{key}="{escaped(text)}"' for key, text in labels.items())
    number = str(int(value)) if float(value).is_integer() else repr(float(value))
    return f"{name}{{{inner}}} {number}"


def escaped(text: str) -> str:
    """A label's value as the text form wants it."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
