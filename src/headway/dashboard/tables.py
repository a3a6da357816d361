"""The table of a report that has one row for each batch."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from headway.dashboard.draw.scales import elapsed_text
from headway.dashboard.sections import seconds
from headway.measure.batches import BatchLine

MOST_ROWS = 500
HEADS = ("batch", "published", "records", "answers", "quarantined", "waiting", "interval", "took",
         "p50", "p99", "max", "windows p99", "why")  # fmt: skip


def batch_table(lines: Sequence[BatchLine], started_s: float, warm: frozenset[int]) -> str:
    """The batches as a table that folds away, the latest `MOST_ROWS` of them."""
    shown = lines[-MOST_ROWS:]
    left = len(lines) - len(shown)
    note = f"<p class='soft'>The first {left:,} batches are in the log only.</p>" if left else ""
    heads = "".join(f"<th>{head}</th>" for head in HEADS)
    rows = "".join(batch_row(line, started_s, line.batch in warm) for line in shown)
    return (
        f"<details><summary>All batches ({len(lines):,})</summary>{note}<div class='scroll'>"
        f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div></details>"
    )


def batch_row(line: BatchLine, started_s: float, warm: bool) -> str:
    """One batch as a row of the table."""
    latency, windows = line.latency, line.window_latency
    waiting = line.account.get("waiting")
    cells = (
        f"{line.batch}",
        elapsed_text(line.published_s - started_s),
        f"{line.rows:,}",
        f"{line.answers:,}",
        f"{line.quarantined:,}",
        "–" if waiting is None else f"{waiting:,}",
        seconds(line.interval_s),
        seconds(line.published_s - line.started_s),
        *(
            seconds(latency[name] if latency.get("count") else None)
            for name in ("p50", "p99", "max")
        ),
        seconds(windows["p99"] if windows.get("count") else None),
        f"warm-up; {line.because}" if warm else line.because,
    )
    kind = " class='warmed'" if warm else ""
    return f"<tr{kind}>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
