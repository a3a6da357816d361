"""Foretell a candidate in either mode."""

from __future__ import annotations

from headway.errors import PlanError
from headway.measure.costs.profile import JobProfile
from headway.model.candidate import Candidate, Load
from headway.model.micro_batch import predict_micro_batch
from headway.model.prediction import Prediction
from headway.model.real_time import predict_real_time


def predict(profile: JobProfile, candidate: Candidate, under: Load) -> Prediction:
    """The latency of a candidate under a load, by phase, with how sure that is."""
    if under.rate_per_s <= 0:
        raise ValueError(f"the rate must be more than 0; got {under.rate_per_s:g}")
    if not known_in(profile, candidate.mode):
        raise PlanError(
            f"the profile says nothing of {candidate.mode}; run the flow in that mode for some "
            "minutes, which leaves a profile in its folder"
        )
    if candidate.mode == "micro-batch":
        return predict_micro_batch(profile, candidate, under)
    return predict_real_time(profile, candidate, under)


def known_in(profile: JobProfile, mode: str) -> bool:
    """Whether a profile tells of a mode."""
    if mode == "micro-batch":
        return bool(profile.batch.batches)
    return any(each.map_cpu_s > 0 for each in profile.stream.stretches)
