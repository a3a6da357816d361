"""What counts and sums over a sample say of all data: an estimate beside the answer, never in it.

The slices of a sample that grows by a hash are samples of their own. How unlike they are tells how
far the total may be off; at the last point all is in, and the interval closes (paper 5 leaves
estimates to a layer above it; this is one).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from headway.early.algebra import Group, Inner, Node, Project, Query, Scan, Top, children_of
from headway.early.relation import Step

SURE = 1.959964  # 95 % of a normal distribution lie within so many deviations


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a total over all data may be, at 95 %; one slice alone tells nothing of how far off."""

    low: float | None
    value: float
    high: float | None


def estimate(
    values: Sequence[float], shares: Sequence[float], least: float = float("-inf")
) -> Estimate:
    """The total that a value grows to, from what it was at each point so far; at `least` so much.

    >>> round(estimate([10.0, 20.0, 30.0], [0.1, 0.2, 0.3]).value)
    100
    >>> estimate([10.0, 30.0], [0.1, 0.2], least=30.0).low
    30.0
    >>> estimate([12.0, 20.0], [0.5, 1.0])
    Estimate(low=20.0, value=20.0, high=20.0)
    """
    total, share = values[-1], shares[-1]
    value = total / share
    if share >= 1.0:
        return Estimate(total, total, total)
    slices = len(values)
    if slices < 2:
        return Estimate(None, value, None)
    off = [
        (now - was) - value * (part - before)
        for was, now, before, part in zip(
            [0.0, *values], values, [0.0, *shares], shares, strict=False
        )
    ]
    variance = (1 - share) / share**2 * slices / (slices - 1) * sum(one * one for one in off)
    reach = student(slices - 1) * sqrt(variance)
    return Estimate(max(least, value - reach), value, value + reach)


def student(freedom: int) -> float:
    """Deviations that hold 95 %, where the deviation itself is known from few values.

    >>> round(student(2), 1), round(student(10), 2), round(student(1000), 2)
    (4.3, 2.23, 1.96)
    """
    exact = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776}
    if freedom in exact:
        return exact[freedom]
    z = SURE
    first = (z**3 + z) / (4 * freedom)
    return z + first + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


@dataclass(frozen=True, slots=True)
class Totals:
    """The places of shown columns that are counts or sums of a group, and of those that name it.

    Some of them are counts that never shrink.
    """

    keys: tuple[int, ...]
    places: tuple[int, ...]
    counts: frozenset[int] = frozenset()


def totals_in(query: Query) -> Totals | None:
    """The totals that a query shows, or None if it shows none that could be scaled up."""
    found = group_under(query.node, {name: name for name in query.shown})
    if found is None:
        return None
    group, names = found
    additive = {
        call.name: call.function != "sum"
        for call in group.calls
        if call.function in ("count", "count_if", "sum") and not call.distinct
    }
    shown = [names.get(name) for name in query.shown]
    keys = [key.name for key in group.keys]
    places = tuple(place for place, name in enumerate(shown) if name in additive)
    if not places or any(key not in shown for key in keys):
        return None
    counts = frozenset(
        place for place in places if additive[str(shown[place])] and only_grows(group.child)
    )
    return Totals(tuple(shown.index(key) for key in keys), places, counts)


def only_grows(node: Node) -> bool:
    """Whether tuples that come only ever add rows: nothing is grouped, cut or ruled out."""
    return isinstance(node, Scan | Project | Inner) and all(map(only_grows, children_of(node)))


def group_under(node: Node, names: Mapping[str, str]) -> tuple[Group, Mapping[str, str]] | None:
    """The group whose rows are shown, if nothing above it drops rows by their totals."""
    match node:
        case Group():
            return node, names
        case Project(child=child, outputs=outputs):
            below = {output.name: output.term.column for output in outputs}
            kept = {shown: below.get(name) for shown, name in names.items()}
            return group_under(child, {s: n for s, n in kept.items() if n is not None})
        case Inner(sources=(child,), conditions=()) | Top(child=child):
            return group_under(child, names)
        case _:
            return None


BIASED = {
    "intersected": "its sides do not enter by a common key, so at a tenth of each it has about a "
    "hundredth of the pairs",
    "split": "a row is without a match until its match has entered",
    "first match": "a match may enter later than what it matches",
    "at each point": "a match may enter later than what it matches",
}


def unfit_to_estimate(step: Step) -> str:
    """Why an answer does not grow as its tuples do, or nothing."""
    if step.rule == "beside a value":
        return "its rows are held against a value that still moves itself"
    return next(filter(None, map(unfit_to_estimate, step.under)), "")


def warnings_of(step: Step) -> list[str]:
    """The joins whose early results are biased, and what to do about it."""
    found = [line for under in step.under for line in warnings_of(under)]
    if step.operator.endswith("join") and step.rule in BIASED:
        found.append(
            f"early results of the {step.operator} are biased: {BIASED[step.rule]}; "
            "annotate both sides by the key that they are joined by"
        )
    return list(dict.fromkeys(found))
