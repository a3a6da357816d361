"""What paper 1's closed formulas say of a prediction, beside the distribution that it rests on.

They need a mean and a variance only, so they are what is left where less is known, and they show
whether the longer way is worth it (sections 3.2 to 3.4).
"""

from __future__ import annotations

import numpy as np

from headway.measure.costs.profile import JobProfile
from headway.model.prediction import Prediction
from headway.model.quantiles import cantelli_s, normal_s
from headway.model.queues import bound_wait_s, clocked_wait, mean_wait_s, wait_variance_s2
from headway.model.real_time import tasks_of
from headway.model.service import Service
from headway.model.windows import Spread, window_latency

SHARE = 0.99


def bounds_text(found: Prediction) -> str:
    """The p99 of a record by its mean and variance alone."""
    normal, most = (by(SHARE, found.mean_s, found.variance_s2) for by in (normal_s, cantelli_s))
    return (
        f"p99 of a record {found.quantile_s(SHARE):.3f} s; of its mean and its deviation of "
        f"{found.variance_s2**0.5:.3f} s alone: {normal:.3f} s if it were normal, {most:.3f} s at "
        "most whatever its shape (3.4)"
    )


def queues_text(profile: JobProfile, found: Prediction) -> list[str]:
    """What records wait for the tasks by their moments, and what they wait at most (3.2)."""
    queues = tasks_of(profile, found.candidate).queues(found.under)
    names = {"fetch": "to be mapped", "shuffle": "to be reduced"}
    return [
        f"of that it waits {names[name]} for {mean_wait_s(*queue) * 1e3:.2f} ms, with a deviation "
        f"of {wait_variance_s2(*queue) ** 0.5 * 1e3:.2f} ms, and no more than "
        f"{bound_wait_s(*queue) * 1e3:.2f} ms on average whatever its moments beyond the second"
        for name, queue in queues.items()
    ]


def clocked_text(service: Service, found: Prediction) -> list[str]:
    """How long batches would queue if each took only what came in its own interval (D/G/1)."""
    every_s, rate = found.candidate.interval_s, found.under.rate_per_s
    if every_s <= 0:
        return []
    rows = np.array([rate * every_s])
    batch_s = float(service.batch_s(rows, np.array([every_s]))[0])
    taken_s = batch_s * service.ratios + float(service.after_s(rows)[0])
    waited_s = float(clocked_wait(taken_s.tolist(), every_s).mean())
    said = f"{waited_s:.3f} s" if np.isfinite(waited_s) else "longer and longer"
    return [
        f"if a batch took only what came in its own {every_s:g} s, it would queue for {said} "
        "(D/G/1, 3.2)"
    ]


def window_text(profile: JobProfile, service: Service, found: Prediction) -> list[str]:
    """The latency of a window by its last record and its answers, one after another (3.3)."""
    rows = max(1.0, found.under.rate_per_s * 2 * (found.phases_s["queue"] + found.phases_s["wait"]))
    answers = float(service.answers.at(np.array(rows)))
    if profile.batch.answering >= 1.0 or answers < 1:
        return []  # answers with every batch: no windows
    each_s = float(service.per_answer_s[0])
    record = Spread(found.mean_s, found.variance_s2)
    whole = window_latency(record, found.candidate.mappers, round(answers), each_s)
    return [
        f"a window {found.window_mean_s:.3f} s; its last record over {found.candidate.mappers} "
        f"mappers and {answers:,.0f} answers one after another would make {whole.mean_s:.3f} s "
        f"(3.3), where nothing waits for a watermark, as it does here for one more cycle"
    ]
