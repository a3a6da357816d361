"""A plan as a person reads it: what is chosen, what it should bring, and why nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from headway.flow.goals import Goal
from headway.measure.bars import BAR, bars
from headway.measure.costs.profile import JobProfile
from headway.model.candidate import Candidate
from headway.model.prediction import Prediction
from headway.model.service import Service
from headway.model.shared import half_batch_s
from headway.plan.bounds import bounds_text, clocked_text, queues_text, window_text
from headway.plan.planner import Choice, Plan
from headway.plan.stores import memory_text
from headway.units import finite, format_duration


def plan_text(plan: Plan) -> str:
    """The plan, or why there is none."""
    return "\n".join(chosen_lines(plan) if plan.chosen else missing_lines(plan))


def chosen_lines(plan: Plan) -> Iterator[str]:
    """A plan that was found."""
    chosen, goal = plan.chosen, plan.wanted.goal
    assert chosen is not None
    found = chosen.predicted
    yield f"{chosen.candidate}"
    keeps = "keeps" if plan.sure else "may keep"
    yield (
        f"  {keeps} {goal} up to {chosen.reach.highest_per_s:,.0f}/s; falls behind at "
        f"{found.saturation_per_s:,.0f}/s"
    )
    if not plan.sure:
        yield f"  no promise: the model may be off by {found.margin:.0%}, and this is closer"
    yield f"  at {found.under.rate_per_s:,.0f}/s: {value_text(found, goal)}"
    yield f"  a million records cost {found.core_s:,.1f} core-seconds"
    yield from phase_lines(found)
    if len(plan.highest) > 1:
        for nodes, rate in plan.highest.items():
            yield f"  {nodes} node{'s' * (nodes > 1)}: up to {rate:,.0f}/s"
    for other in plan.others:
        yield f"  instead of {other.candidate}: {other.because}"


def phase_lines(found: Prediction) -> Iterator[str]:
    """Where the time of a record goes, a bar for each phase."""
    yield "  where the mean of a record goes:"
    for bar, name, spent in bars(found.phases_s):
        yield f"    {bar:<{BAR}} {name:<13} {spent}"


def missing_lines(plan: Plan) -> Iterator[str]:
    """That no plan was found, with what comes nearest."""
    goal = plan.wanted.goal
    rate = f" at {plan.rate_per_s:,.0f}/s" if plan.rate_per_s else " at any rate"
    yield f"no plan reaches {goal}{rate}" + nearest_text(plan.nearest, goal)
    for number, choice in enumerate(plan.nearest):
        yield f"  {choice.because}: {choice.candidate}"
        at = f"at {choice.predicted.under.rate_per_s:,.0f}/s"
        yield f"    {value_text(choice.predicted, goal)} {at}"
        if number == 0:
            yield from phase_lines(choice.predicted)
    if not plan.nearest:
        which = "this rate" if plan.rate_per_s else "any rate"
        most = max((reach.saturation_per_s for reach in plan.tried), default=0.0)
        yield (
            f"  no candidate keeps up with {which} at all: all fall behind at {most:,.0f}/s, as "
            "far as the profile tells; give it more nodes, or profile larger batches"
        )


def nearest_text(nearest: tuple[Choice, ...], goal: Goal) -> str:
    """What comes nearest, in half a sentence."""
    said = [
        f"{format_duration(float(f'{c.predicted.of(goal):.3g}'))} at "
        f"{c.predicted.under.rate_per_s:,.0f}/s"
        for c in nearest
    ]
    return f"; nearest: {', or '.join(said)}" if said else ""


def value_text(found: Prediction, goal: Goal) -> str:
    """The value of the goal's statistic, with the interval in which the truth is expected."""
    low, high = (format_duration(float(f"{s:.3g}")) for s in found.between(goal))
    name = "mean" if goal.quantile is None else f"p{goal.quantile * 100:g}"
    per = " of a window" if goal.per == "window" else ""
    value = format_duration(float(f"{found.of(goal):.3g}"))
    return f"{name}{per} {value} ({low} to {high})"


def every_text(plan: Plan) -> str:
    """The candidates, the best first."""
    tried = plan.best_first
    lines = [f"  {r.highest_per_s:>12,.0f}/s  {r.candidate}" for r in tried if r.highest_per_s > 0]
    more = len(tried) - len(lines)
    return "\n".join(
        [f"{len(tried)} candidates, by the rate up to which they keep the goal:", *lines]
        + ([f"  and {more} that keep it at no rate"] if more > 0 else [])
    )


def arithmetic(profile: JobProfile, found: Prediction) -> str:
    """How the figures of a prediction come about."""
    if found.candidate.mode == "real-time":
        return stream_arithmetic(profile, found)
    service = Service.of(profile, [found.candidate])
    rate, every = found.under.rate_per_s, found.candidate.interval_s
    fixed, record, key, answer = (
        float(each[0])
        for each in (
            service.fixed_s, service.per_record_s, service.per_key_s, service.per_answer_s
        )
    )  # fmt: skip
    wait_s = found.phases_s["queue"] + found.phases_s["wait"]
    rows = max(1.0, rate * 2 * wait_s)
    keys = float(service.keys_of(np.array(rows), np.array(2 * wait_s)))
    return "\n".join(
        [
            f"a batch of n records with k keys takes S(n) = {fixed:.3f} s + {record * 1e6:.2f} us n"
            f" + {key * 1e6:.2f} us k + {answer * 1e6:.2f} us per answer",
            f"the next is decided at the earliest {service.after_fixed_s:.3f} s after it is out",
            f"C' = max({every:g} s, S({rate:,.0f}/s x C) + {service.after_fixed_s:.3f} s), run "
            f"with {len(service.ratios)} ratios of batches that were seen, from "
            f"{service.ratios.min():.2f} to {service.ratios.max():.2f}",
            f"a record meets a cycle of {2 * wait_s:.3f} s, so {rows:,.0f} records, {keys:,.0f} "
            f"keys; it waits half of it, {half_batch_s(2 * wait_s):.3f} s",
            f"mean = {wait_s:.3f} s + S = {found.mean_s:.3f} s; latency is even from S to S + C",
            *window_text(profile, service, found),
            *([memory_text(profile.batch.kept_s)] if found.candidate.store == "memory" else []),
            bounds_text(found),
            *clocked_text(service, found),
            f"it falls behind where n / (S(n) + after) ends: {found.saturation_per_s:,.0f}/s",
            f"margin {found.margin:.0%}: how much runs differ, and how sure the usual batch is",
        ]
    )


def stream_arithmetic(profile: JobProfile, found: Prediction) -> str:
    """The figures of a prediction in real-time mode."""
    candidate = found.candidate
    passing = {name: s for name, s in found.phases_s.items() if name != "pause"}
    parts = " + ".join(f"{name} {s * 1e3:.2f} ms" for name, s in passing.items())
    return "\n".join(
        [
            f"a record passes through {parts} = {sum(passing.values()) * 1e3:.2f} ms",
            *queues_text(profile, found),
            f"load {found.load:.0%} of the {found.saturation_per_s:,.0f}/s at which a task has no "
            "time left (its processor time per record, on what other threads leave)",
            f"a checkpoint every {candidate.checkpoint_s:g} s: each record that comes within the "
            f"pause, or before it is made good, waits; {found.phases_s['pause'] * 1e3:.2f} ms on "
            "average",
            bounds_text(found),
            f"learned from {len(profile.stream.stretches)} stretches; margin {found.margin:.0%}",
        ]
    )


def plan_figures(plan: Plan) -> dict[str, object]:
    """The plan by name, for whatever reads it."""
    return {
        "goal": str(plan.wanted.goal),
        "feasible": plan.chosen is not None,
        "sure": plan.chosen is not None and plan.sure,
        "chosen": choice_figures(plan.chosen, plan.wanted.goal) if plan.chosen else None,
        "others": [choice_figures(each, plan.wanted.goal) for each in plan.others],
        "nearest": [choice_figures(each, plan.wanted.goal) for each in plan.nearest],
        "highest_per_s": {str(nodes): round(rate, 1) for nodes, rate in plan.highest.items()},
        "candidates": len(plan.tried),
    }


def every_figures(plan: Plan) -> list[dict[str, object]]:
    """The candidates by name, the best first."""
    return [
        candidate_figures(each.candidate)
        | {
            "highest_per_s": round(each.highest_per_s, 1),
            "saturation_per_s": finite(each.saturation_per_s),
        }
        for each in plan.best_first
    ]


def candidate_figures(candidate: Candidate) -> dict[str, object]:
    """What can be set, by name."""
    waits = {
        "micro-batch": ("interval_s", "store"),
        "real-time": ("checkpoint_s", "shuffle_wait_s"),
    }[candidate.mode]
    names = ("mode", "nodes", "cores", "mappers", "reducers", *waits)
    return {name: getattr(candidate, name) for name in names}


def choice_figures(choice: Choice, goal: Goal) -> dict[str, object]:
    """One choice by name."""
    found = choice.predicted
    low, high = found.between(goal)
    return {
        **candidate_figures(choice.candidate),
        "rate_per_s": round(found.under.rate_per_s, 1),
        "predicted_s": finite(found.of(goal)),
        "predicted_between_s": [finite(low), finite(high)],
        "mean_s": finite(found.mean_s),
        "phases_s": {name: round(spent, 5) for name, spent in found.phases_s.items()},
        "highest_per_s": round(choice.reach.highest_per_s, 1),
        "saturation_per_s": finite(choice.reach.saturation_per_s),
        "core_s_per_million": finite(found.core_s),
        "because": choice.because,
    }
