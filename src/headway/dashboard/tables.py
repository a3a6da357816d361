"""The tables of a report: a row for each batch, and one for each decision of the keeper."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from headway.dashboard.draw.scales import elapsed_text
from headway.dashboard.sections import seconds
from headway.keep.decisions import Decision
from headway.measure.batches import BatchLine

MOST_ROWS = 500
HEADS = ("batch", "published", "records", "answers", "quarantined", "waiting", "interval", "took",
         "p50", "p99", "max", "windows p99", "why")  # fmt: skip
DECISION_HEADS = ("at", "records come", "what", "why", "expected", "what the last one had foretold")


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


def decision_table(decisions: Sequence[Decision], started_s: float) -> str:
    """What the keeper decided and why, with what it had foretold; nothing where there is none."""
    if not decisions:
        return ""
    changes = [each for each in decisions if "change" in each.action]
    audits = [each.audit for each in decisions if each.audit is not None]
    within = sum(audit.within for audit in audits)
    said = (
        f"{len(decisions):,} times it was looked whether another plan would be better; "
        f"{len(changes):,} changes."
    )
    if audits:
        said += f" {within:,} of {len(audits):,} predictions held within their own interval."
    shown = "".join(decision_row(each, started_s) for each in changes)
    every = "".join(decision_row(each, started_s) for each in decisions[-MOST_ROWS:])
    heads = "".join(f"<th>{head}</th>" for head in DECISION_HEADS)
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>%s</tbody></table>"
    body = f"<div class='scroll'>{table % shown}</div>" if changes else ""
    return (
        f"<h2>Decisions</h2><p>{said}</p>{body}<details><summary>All decisions</summary>"
        f"<div class='scroll'>{table % every}</div></details>"
    )


def decision_row(made: Decision, started_s: float) -> str:
    """One decision as a row."""
    cells = (
        elapsed_text(max(0.0, made.at_s - started_s)),
        f"{made.rate_per_s:,.0f}/s",
        made.action,
        made.because,
        seconds(made.expected_s),
        str(made.audit) if made.audit else "–",
    )
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"


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
