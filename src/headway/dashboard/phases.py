"""Where the time of answers went, drawn: phases over time, and as a waterfall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from headway.dashboard.draw.plots import Series, TimePlot
from headway.dashboard.sections import Timeline, plot_of, seconds
from headway.measure.batches import BatchLine
from headway.measure.latency import Latency
from headway.measure.phases import MICRO_BATCH, REAL_TIME
from headway.measure.spent import BAND, band_of, phases_of

SMALLEST = 0.01  # a phase with less than this share of the time is not drawn by itself
REST = "the rest"
MEANINGS = MICRO_BATCH | REAL_TIME


def phases_plot(line: Timeline) -> TimePlot | None:
    """The phases of each batch, one upon the other; None where the log has none."""
    known = [point.phases_s for point in line.points if point.phases_s]
    if not known:
        return None
    names = shown_phases(known)
    stacks = [stack_of(point.phases_s, names) for point in line.points]
    made = tuple(
        Series(name, f"phase{place % 13}", tuple(stack.get(name) for stack in stacks), "area")
        for place, name in enumerate(names)
    )
    tips = line.tips(
        lambda p: "\n".join(f"{name} {seconds(spent)}" for name, spent in p.phases_s.items())
    )
    # The highest first, so that each lower one is drawn upon it.
    return plot_of(line, "Where the time of an answer went, by batch", made[::-1], tips)


def shown_phases(known: Sequence[Mapping[str, float]]) -> list[str]:
    """The phases that are drawn by themselves, in order, and the rest where others are not."""
    sums: dict[str, float] = {}
    for phases in known:
        for name, spent in phases.items():
            sums[name] = sums.get(name, 0.0) + spent
    whole = sum(sums.values()) or 1.0
    drawn = [name for name in sums if sums[name] / whole >= SMALLEST]
    return drawn + [REST] * (len(drawn) < len(sums))


def stack_of(phases_s: Mapping[str, float], names: Sequence[str]) -> dict[str, float]:
    """How high each phase reaches on those below it.

    >>> stack_of({"a": 1.0, "b": 2.0, "c": 0.5}, ["a", "b", "the rest"])
    {'a': 1.0, 'b': 3.0, 'the rest': 3.5}
    """
    if not phases_s:
        return {}
    own = {name: phases_s.get(name, 0.0) for name in names if name != REST}
    if REST in names:
        own[REST] = sum(phases_s.values()) - sum(own.values())
    reached, stack = 0.0, dict[str, float]()
    for name, spent in own.items():
        reached += spent
        stack[name] = reached
    return stack


def waterfall(lines: Sequence[BatchLine]) -> str:
    """The phases as steps from arrival to answer: of all records, and of those around the p99."""
    found = phases_of((line.rows, line.phases) for line in lines if line.rows)
    if not found:
        return ""
    means = {name: spent.mean_s for name, spent in found.items()}
    # A run that has changed its mode has phases that the slow records do not have.
    slow = band_of(lines)
    band = {name: slow.get(name, 0.0) for name in means} if slow else {}
    low, high = (f"{share:.1%}" for share in BAND)
    about = (
        f"Mean of all records, and of those between the {low} and the {high} slowest."
        if band
        else "Mean of all records. In real-time mode each phase is summed up by itself, so its p99 "
        "is its own: these do not add up to the p99 of the whole."
    )
    heads = ("phase", "mean", "", "around p99" if band else "its p99", "")
    rows = "".join(
        row_of(name, (means, name), (band, name) if band else None, found[name]) for name in means
    )
    head = "".join(f"<th>{each}</th>" for each in heads)
    return (
        "<details open><summary>Where the time of an answer went</summary>"
        f"<p class='soft'>{about}</p><div class='scroll'><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div></details>"
    )


Place = tuple[Mapping[str, float], str]  # of one phase among all


def row_of(name: str, mean: Place, slow: Place | None, spent: Latency) -> str:
    """One phase as a row with its steps."""
    slow_s = slow[0].get(name, 0.0) if slow else spent.quantile(0.99)
    return (
        f"<tr title='{escape(MEANINGS.get(name, ''))}'><td class='name'>{escape(name)}</td>"
        f"<td>{seconds(mean[0][name])}</td>{step_of(*mean)}"
        f"<td>{seconds(slow_s)}</td>{step_of(*slow) if slow else '<td></td>'}</tr>"
    )


def step_of(spent: Mapping[str, float], name: str) -> str:
    """A bar that begins where the phase before ended."""
    whole = sum(spent.values()) or 1.0
    names = list(spent)
    before = sum(spent[each] for each in names[: names.index(name)])
    left, width = before / whole, spent[name] / whole
    bar = f"<div class='share' style='margin-left:{left:.1%};width:{width:.1%}'></div>"
    return f"<td class='meter'>{bar}</td>"
