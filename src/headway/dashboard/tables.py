"""The tables of a report: one row for each batch, and where a batch's time went."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from headway.dashboard.draw.scales import elapsed_text
from headway.dashboard.sections import seconds
from headway.measure.batches import BatchLine
from headway.measure.phases import MICRO_BATCH, REAL_TIME, mean_phases

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


def phase_table(lines: Sequence[BatchLine]) -> str:
    """The mean time of an answer in each phase, in order; empty where the log has none."""
    means = mean_phases((line.rows, line.phases) for line in lines)
    if not means:
        return ""
    longest_s = max(means.values()) or 1.0
    meanings = MICRO_BATCH | REAL_TIME
    rows = "".join(
        f"<tr title='{escape(meanings.get(name, ''))}'><td class='name'>{escape(name)}</td>"
        f"<td>{seconds(mean_s)}</td>"
        f"<td class='meter'><div class='share' style='width:{mean_s / longest_s:.1%}'></div></td>"
        "</tr>"
        for name, mean_s in means.items()
    )
    return (
        "<details open><summary>Where the time of an answer went, on average</summary>"
        f"<div class='scroll'><table><tbody>{rows}</tbody></table></div></details>"
    )
