"""See, decide, act: whether a running flow shall run in another way, and why.

Each pass compares what the one before foretold with what was measured, and asks the planner what it
would do at the rate that comes now. A change of pace costs nothing; a change of mode, or of what
real-time mode runs with, silences the flow for seconds. The flow changes when what it gains within
a horizon is more than what the change costs, at most once per cooldown.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from headway.keep.decisions import Audit, Decision
from headway.keep.seeing import Flowing
from headway.measure.costs.profile import JobProfile
from headway.model.candidate import Candidate, Load
from headway.model.predict import known_in, predict
from headway.model.prediction import Prediction
from headway.plan.planner import searched
from headway.plan.search import Wanted, lowest_latency
from headway.plan.space import Space


@dataclass(frozen=True, slots=True)
class Caution:
    """How the keeper weighs.

    every_s     time between two passes
    cooldown_s  the least time between two changes
    horizon_s   how far ahead a gain counts
    restart_s   how long a restart silences the flow, until that was measured
    saving      the share of core-seconds that a change must save when the goal is kept anyway
    growth      how much more than now is planned for
    """

    every_s: float = 5.0
    cooldown_s: float = 15.0
    horizon_s: float = 60.0
    restart_s: float = 4.0
    saving: float = 0.25
    growth: float = 1.1


@dataclass(frozen=True, slots=True)
class Kept:
    """What the keeper remembers from one pass to the next."""

    now: Candidate
    changed_s: float = 0.0
    expected: Prediction | None = None
    by: JobProfile | None = None  # by which it was foretold


def audit(kept: Kept, flowing: Flowing, wanted: Wanted) -> Audit | None:
    """What the pass before knew of the setting in force at this rate, against what came."""
    expected = kept.expected
    if expected is None or kept.by is None or flowing.measured_s is None or flowing.rate_per_s <= 0:
        return None
    if not known_in(kept.by, kept.now.mode):
        return None  # somebody else has changed the mode since
    found = predict(kept.by, kept.now, replace(expected.under, rate_per_s=flowing.rate_per_s))
    if not found.stable:
        return None
    return Audit(found.of(wanted.goal), *found.between(wanted.goal), flowing.measured_s)


def choose_plan(
    kept: Kept, flowing: Flowing, space: Space, wanted: Wanted, caution: Caution
) -> tuple[Kept, Decision]:
    """Decide whether the flow goes on as it is; the decision carries its own reason."""
    checked = audit(kept, flowing, wanted)

    def decided(action: str, because: str, after: Kept) -> tuple[Kept, Decision]:
        expected_s = after.expected.of(wanted.goal) if after.expected else None
        return after, Decision(
            flowing.at_s, flowing.rate_per_s, action, because, after.now, expected_s, checked
        )

    if flowing.rate_per_s <= 0 or not known_in(space.profile, kept.now.mode):
        return decided("wait", "nothing is known of this flow's costs yet", kept)
    load = replace(wanted.load, rate_per_s=flowing.rate_per_s)
    now = predict(space.profile, kept.now, load)
    here = replace(kept, expected=now, by=space.profile)
    if flowing.at_s - kept.changed_s < caution.cooldown_s:
        return decided("keep", "the last change is too recent", here)
    better = wished(space, replace(wanted, load=load), caution)
    if better is None or better.candidate == kept.now:
        return decided("keep", kept_because(now, wanted, better), here)
    why = worth_it(now, better, wanted, caution)
    if why is None:
        return decided("keep", kept_because(now, wanted, better), here)
    after = Kept(better.candidate, flowing.at_s, better, space.profile)
    return decided("change", why, after)


def wished(space: Space, wanted: Wanted, caution: Caution) -> Prediction | None:
    """What the planner would do now: a plan with some room, or what is least late."""
    rate = wanted.load.rate_per_s
    found = searched(space, wanted, range(1, 2), rate * caution.growth)
    if found.chosen is not None:
        return predict(space.profile, found.chosen.candidate, wanted.load)
    return lowest_latency(space.profile, space.on(1), wanted)


def worth_it(now: Prediction, better: Prediction, wanted: Wanted, caution: Caution) -> str | None:
    """Why a change is worth what it costs; None when it is not."""
    goal, load = wanted.goal, now.under
    # Waits and checkpoints of real-time mode are fixed when a query starts.
    restart = "real-time" in (now.candidate.mode, better.candidate.mode)
    cost = load.rate_per_s * caution.restart_s if restart else 0.0
    spared = load.rate_per_s * caution.horizon_s * (now.late_share(goal) - better.late_share(goal))
    keeps, would_keep = (p.of(goal) <= wanted.limit_s(p.margin) for p in (now, better))
    if not keeps and better.of(goal) < now.of(goal) * 0.97 and spared >= cost:
        words = text_of(now.of(goal))
        return (
            f"at {load.rate_per_s:,.0f}/s {goal} would become {words}; {better.candidate} brings "
            f"{text_of(better.of(goal))}"
        )
    saves = 1 - better.core_s / now.core_s if now.core_s else 0.0
    if keeps and would_keep and not restart and saves >= caution.saving:
        return (
            f"at {load.rate_per_s:,.0f}/s {goal} is kept with {saves:.0%} fewer core-seconds: "
            f"{better.candidate}"
        )
    return None


def kept_because(now: Prediction, wanted: Wanted, better: Prediction | None) -> str:
    """Why nothing changes."""
    value = text_of(now.of(wanted.goal))
    if now.of(wanted.goal) <= wanted.limit_s(now.margin):
        return f"{wanted.goal} is kept: {value} expected"
    if better is None:
        return f"{value} expected, and nothing else would keep up"
    return f"{value} expected, and nothing else would be worth a change"


def text_of(seconds: float) -> str:
    """A latency in a reason."""
    return f"{seconds:.3g} s" if seconds < 1e6 else "unbounded"


def load_of(profile: JobProfile, rate_per_s: float, lateness_s: float = 0.0) -> Load:
    """A load that comes as regularly as records came so far."""
    came = profile.arrivals
    return Load(rate_per_s, came.variation if came.count else 1.0, lateness_s)
