"""A goal in, a plan out: the fewest nodes that carry the rate, and the setting that suits it best.

Paper 1, section 3.1: for each number of nodes the highest rate under the goal and the setting that
reaches it; the smallest number whose highest rate is enough is the plan. Where several settings on
these nodes carry the rate with room to grow, the one that costs least is taken; without a rate it
is the one that carries most. Micro-batch goes before real-time mode, whose sink may tell an answer
twice after a crash.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from headway.measure.costs.profile import JobProfile
from headway.model.candidate import Candidate, Load
from headway.model.predict import predict
from headway.model.prediction import Prediction
from headway.plan.search import Reach, Wanted, lowest_latency, reaches
from headway.plan.space import Space

ALTERNATIVES = 2
TOGETHER = 8  # numbers of nodes that are tried at once
ROOM = 1.25  # a setting has room to grow when it carries so many times the rate
ALIKE = 0.02  # rates that differ by less are no alternative
# States in memory must fit for as long as a checkpoint lives, and no real-time mode reads them: so
# they must spare some of the cost where RocksDB has room, too.
SPARES = 0.05


@dataclass(frozen=True, slots=True)
class Choice:
    """A candidate with how far it goes, and what is foretold of it at the rate that is wanted."""

    reach: Reach
    predicted: Prediction
    because: str = ""

    @property
    def candidate(self) -> Candidate:
        """The setting itself."""
        return self.reach.candidate


@dataclass(frozen=True, slots=True)
class Plan:
    """What is chosen, or why nothing is.

    chosen   the choice; None when no candidate reaches the goal
    others   the nearest alternatives, each with the reason why it lost
    nearest  when nothing is chosen: the lowest latency at the rate, and the highest rate in time
    highest  for each number of nodes the highest rate under the goal
    sure     whether the goal is kept even where the model is off by its own margin
    """

    wanted: Wanted
    rate_per_s: float | None
    chosen: Choice | None
    others: tuple[Choice, ...] = ()
    nearest: tuple[Choice, ...] = ()
    highest: dict[int, float] = field(default_factory=dict)
    tried: tuple[Reach, ...] = ()
    sure: bool = True

    @property
    def best_first(self) -> list[Reach]:
        """Every candidate that was tried, by the rate up to which it keeps the goal."""
        return sorted(self.tried, key=lambda reach: -reach.highest_per_s)


def make_plan(space: Space, wanted: Wanted, nodes: int, rate_per_s: float | None) -> Plan:
    """Choose: with a rate the fewest nodes that carry it, without one what carries most on all.

    A goal that lies within the model's own margin may well be kept. That it cannot be is said only
    where the model, taken at its word, says so; else there is a plan on all nodes, and no promise.
    """
    counts = range(1, nodes + 1) if rate_per_s is not None else range(nodes, nodes + 1)
    found = searched(space, wanted, counts, rate_per_s)
    at_rate = [c for c in found.nearest if c.predicted.under.rate_per_s >= (rate_per_s or 1.0)]
    if all(c.predicted.of(wanted.goal) > wanted.goal.limit_s for c in at_rate):
        return found  # it is planned, or even the lowest latency at this rate is too high
    bold = searched(space, replace(wanted, caution=0.0), range(nodes, nodes + 1), rate_per_s)
    return found if bold.chosen is None else replace(bold, wanted=wanted, sure=False)


def searched(space: Space, wanted: Wanted, counts: range, rate_per_s: float | None) -> Plan:
    """The plan on the fewest of some numbers of nodes."""
    best: dict[int, list[Reach]] = {}
    for first in range(counts.start, counts.stop, TOGETHER):
        some = range(first, min(first + TOGETHER, counts.stop))
        candidates = [each for count in some for each in space.on(count)]
        found = reaches(space.profile, candidates, wanted)
        best |= {c: sorted((r for r in found if r.candidate.nodes == c), key=rank) for c in some}
        for count in some:
            highest = best[count][0].highest_per_s if best[count] else 0.0
            if highest > 0 and (rate_per_s is None or highest >= rate_per_s):
                fewer = {c: known for c, known in best.items() if c <= count}
                return planned(space.profile, wanted, fewer, rate_per_s)
    return infeasible(space.profile, wanted, best, rate_per_s)


def rank(reach: Reach) -> tuple[float, ...]:
    """The higher rate first; of equals the one with fewer tasks, and the shorter wait."""
    candidate = reach.candidate
    tasks = candidate.mappers + candidate.reducers
    waits = candidate.checkpoint_s if candidate.mode == "real-time" else candidate.interval_s
    in_memory = float(candidate.store == "memory")
    return (-round(reach.highest_per_s, 1), tasks, waits, candidate.shuffle_wait_s, in_memory)


def planned(
    profile: JobProfile, wanted: Wanted, best: dict[int, list[Reach]], rate_per_s: float | None
) -> Plan:
    """A plan on the largest number of nodes that was tried, with its alternatives."""
    found = best[max(best)]
    load = replace(wanted.load, rate_per_s=rate_per_s or found[0].highest_per_s)
    chosen = suited(profile, found, load) if rate_per_s else None
    chosen = chosen or Choice(found[0], predict(profile, found[0].candidate, load))
    others = [
        Choice(reach, predict(profile, reach.candidate, load))
        for reach in different(chosen.reach, found)[:ALTERNATIVES]
    ]
    lost = tuple(replace(other, because=why_lost(other, chosen)) for other in others)
    return Plan(wanted, rate_per_s, chosen, lost, (), highest_of(best), tried_of(best))


def suited(profile: JobProfile, found: list[Reach], load: Load) -> Choice | None:
    """What suits a rate: micro-batch with room to grow, or without, then real-time mode."""
    enough = [reach for reach in found if reach.highest_per_s >= load.rate_per_s]
    roomy = [reach for reach in enough if reach.highest_per_s >= load.rate_per_s * ROOM]
    for pool in (roomy, enough):
        batches = [reach for reach in pool if reach.candidate.mode == "micro-batch"]
        if batches:
            # Without room the one that carries most comes first, whatever it costs.
            return cheapest(profile, batches if pool is roomy else batches[:1], load)
    return cheapest(profile, roomy, load) if roomy else None


def cheapest(profile: JobProfile, roomy: list[Reach], load: Load) -> Choice:
    """The choice that costs least: rarer batches cost less, so only the rarest are compared."""
    batches = [r for r in roomy if r.candidate.mode == "micro-batch"]
    if not batches:
        first = min(roomy, key=lambda reach: rank(reach)[1:])
        return Choice(first, predict(profile, first.candidate, load))
    rarest: dict[tuple[object, ...], Reach] = {}
    for reach in sorted(batches, key=lambda reach: reach.candidate.interval_s):
        own = reach.candidate
        rarest[own.mappers, own.reducers, own.store] = reach
    found = [Choice(r, predict(profile, r.candidate, load)) for r in rarest.values()]
    return min(found, key=cost)


def cost(choice: Choice) -> float:
    """What a choice is compared by: its core-seconds, a little more where states must fit."""
    return choice.predicted.core_s * (1 + SPARES * (choice.candidate.store == "memory"))


def different(chosen: Reach, found: list[Reach]) -> list[Reach]:
    """Alternatives that are no neighbours: another mode, another store, then other rates."""
    others = [r for r in found if r.highest_per_s > 0 and r is not chosen]
    own = chosen.candidate
    kept: list[Reach] = [r for r in others if r.candidate.mode != own.mode][:1]
    if own.mode == "micro-batch":
        alike = [r for r in others if r.candidate.mode == own.mode]
        kept += [r for r in alike if r.candidate.store != own.store][:1]
    seen = [r.highest_per_s for r in (chosen, *kept)]
    for reach in others:
        if all(abs(reach.highest_per_s / rate - 1) > ALIKE for rate in seen):
            kept.append(reach)
            seen.append(reach.highest_per_s)
    return kept


def why_lost(other: Choice, chosen: Choice) -> str:
    """Why an alternative lost."""
    most, share = other.reach.highest_per_s, other.reach.highest_per_s / chosen.reach.highest_per_s
    if share <= 1:
        return f"keeps the goal up to {most:,.0f}/s only, {share:.0%} of the plan's rate"
    why = "at more cost"
    if other.candidate.mode == "real-time" != chosen.candidate.mode:
        why = "but may tell an answer twice after a crash"
    elif other.predicted.core_s <= chosen.predicted.core_s:
        why = "which this rate does not need"
    return f"would carry {most:,.0f}/s, {share:.0%} of the plan's, {why}"


def infeasible(
    profile: JobProfile, wanted: Wanted, best: dict[int, list[Reach]], rate_per_s: float | None
) -> Plan:
    """The answer that there is no plan, with what comes nearest."""
    largest = best[max(best)]
    load = replace(wanted.load, rate_per_s=rate_per_s or 1.0)
    nearest = []
    at_rate = replace(wanted, load=load)
    lowest = lowest_latency(profile, [reach.candidate for reach in largest], at_rate)
    if lowest is not None:
        reach = next(r for r in largest if r.candidate == lowest.candidate)
        nearest.append(Choice(reach, lowest, "lowest latency at this rate"))
    if largest and largest[0].highest_per_s > 0:
        slower = Load(largest[0].highest_per_s, load.variation, load.lateness_s)
        found = predict(profile, largest[0].candidate, slower)
        nearest.append(Choice(largest[0], found, "highest rate that keeps the goal"))
    return Plan(wanted, rate_per_s, None, (), tuple(nearest), highest_of(best), tried_of(best))


def highest_of(best: dict[int, list[Reach]]) -> dict[int, float]:
    """For each number of nodes the highest rate under the goal."""
    return {count: found[0].highest_per_s if found else 0.0 for count, found in best.items()}


def tried_of(best: dict[int, list[Reach]]) -> tuple[Reach, ...]:
    """Every candidate that was tried."""
    return tuple(reach for found in best.values() for reach in found)
