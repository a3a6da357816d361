"""How long a batch of any size takes on any lanes: a profile's fits, ready for many at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headway.measure.costs.batches import BatchCosts, driver_of, windows_in
from headway.measure.costs.fits import Growth
from headway.measure.costs.profile import JobProfile
from headway.model.candidate import Candidate

Array = NDArray[np.float64]
LARGEST = 1e8  # records of a batch that is still thought about
REACH = 8.0  # times the largest batch that was seen: beyond it nothing is promised
LEAST_RATIOS = 16  # below so many batches nothing is known of how they differ
UNKNOWN_SPREAD = (0.8, 0.9, 1.0, 1.1, 1.2)


@dataclass(frozen=True, slots=True)
class Curve:
    """A growth as straight pieces between logarithms; beyond them as the last piece goes on."""

    x: Array
    y: Array

    @classmethod
    def of(cls, growth: Growth) -> Curve:
        """The pieces of a growth."""
        if not growth.steps:
            return cls(np.array([0.0]), np.array([-np.inf]))
        ends = [1e-3, *(np.exp(x / w) for _, w, x, _ in growth.steps), LARGEST * 10]
        points = sorted({float(end) for end in ends})
        return cls(np.log(points), np.log([max(growth.at(x), 1e-12) for x in points]))

    def at(self, x: Array) -> Array:
        """The growth at many places."""
        return np.asarray(np.exp(np.interp(np.log(np.maximum(x, 1e-3)), self.x, self.y)))


@dataclass(frozen=True, slots=True)
class Service:
    """The time of a batch on some lanes: what is fixed, and what records, keys, answers add.

    A cost per record or key is shared among the tasks that run side by side; what is fixed in a
    task is paid once per wave of tasks. Of several candidates each figure is an array.
    """

    fixed_s: Array
    per_record_s: Array
    per_key_s: Array
    per_answer_s: Array
    keys: Curve
    answers: Curve
    after_fixed_s: float
    after_per_record_s: float
    ratios: Array
    answering: float
    window_s: float
    largest: Array  # records of the largest batch that something is promised of

    @classmethod
    def of(cls, profile: JobProfile, candidates: Sequence[Candidate]) -> Service:
        """The service of candidates, from what was learned on the lanes of the profile."""
        costs = profile.batch
        each = np.array([line_of(profile, candidate) for candidate in candidates])
        fixed, per_record, per_key, per_answer = each.T
        ratios = np.sort(costs.ratios if len(costs.ratios) >= LEAST_RATIOS else UNKNOWN_SPREAD)
        return cls(
            fixed, per_record, per_key, per_answer, Curve.of(costs.keys), Curve.of(costs.answers),
            *costs.after_s.line, ratios, costs.answering, costs.window_s,
            np.array([largest_of(profile, candidate) for candidate in candidates]),
        )  # fmt: skip

    def batch_s(self, rows: Array, lasting_s: Array) -> Array:
        """How long batches take from the decision to the publication, typically.

        Their records came within `lasting_s`: those of a longer time lie in more windows.
        """
        told = self.per_answer_s * self.answers.at(rows) * self.answering
        reduced = self.per_key_s * self.keys_of(rows, lasting_s)
        return np.asarray(self.fixed_s + self.per_record_s * rows + reduced + told)

    def keys_of(self, rows: Array, lasting_s: Array) -> Array:
        """How many keys batches change."""
        if not self.window_s:  # asked a million times by a plan
            return self.keys.at(rows)
        touched = windows_in(lasting_s, self.window_s)
        return np.asarray(self.keys.at(rows / touched) * touched)

    def closing_s(self, rows: Array) -> Array:
        """How much longer a batch takes that has answers than batches do on average."""
        more = self.per_answer_s * self.answers.at(rows) * (1 - self.answering)
        return np.asarray(more)

    def after_s(self, rows: Array) -> Array:
        """How long Spark needs after a batch before the next can be decided."""
        return np.asarray(self.after_fixed_s + self.after_per_record_s * rows)

    @property
    def saturation_per_s(self) -> Array:
        """The rate that batches of any size cannot keep up with, of each candidate."""
        rows = np.geomspace(np.ones_like(self.largest), self.largest, 200)
        busy_s = np.zeros_like(rows)
        for _ in range(4 if self.window_s else 1):  # a batch lasts as long as the one before took
            busy_s = self.batch_s(rows, busy_s) * float(self.ratios.mean()) + self.after_s(rows)
        return np.asarray((rows / busy_s).max(axis=0))

    def most_per_s(self, interval_s: Array) -> Array:
        """The rate up to which something is promised: no batch is far larger than those seen."""
        return np.minimum(self.saturation_per_s, self.largest / np.maximum(interval_s, 1e-9))


def largest_of(profile: JobProfile, candidate: Candidate) -> float:
    """How large a batch something is promised of: its tasks get as much as was seen, or more."""
    seen = profile.batch.largest or LARGEST
    share = max(1.0, candidate.lanes.cores / profile.lanes.cores)
    return float(min(LARGEST, REACH * seen * share))


def line_of(profile: JobProfile, candidate: Candidate) -> tuple[float, float, float, float]:
    """What a batch of a candidate costs: fixed, by the record, by the key, by the answer."""
    lanes, known = candidate.lanes, profile.lanes
    fixed = per_record = per_key = per_answer = 0.0
    for name in profile.batch.phases_s:
        line = profile.batch.line(name, candidate.mappers, candidate.store)
        begin, each = line.fixed, line.each
        match driver_of(name):
            case "records of a task":
                fixed += begin * waves(candidate.mappers, lanes.cores)
                per_record += each / lanes.mapping(candidate.mappers)
            case "keys of a task":
                more = waves(lanes.reducers, lanes.cores) / waves(known.reducers, known.cores)
                fixed += begin * more
                per_key += each / lanes.reducing
            case "answers":
                fixed, per_answer = fixed + begin, per_answer + each
            case "tasks of a core":
                fixed += line.at(lanes.starting(candidate.mappers))
            case _:
                fixed += begin
    return fixed, per_record, per_key, per_answer


def waves(tasks: int, cores: int) -> int:
    """How often all cores take a task until none is left."""
    return max(1, -(-tasks // max(1, cores)))


def phases_at(
    costs: BatchCosts, candidate: Candidate, rows: float, lasting_s: float
) -> dict[str, float]:
    """The time of a batch of so many records in each phase, on the lanes of a candidate."""
    mappers, store = candidate.mappers, candidate.store
    size = costs.size(rows, mappers, candidate.lanes, lasting_s)
    return {name: costs.line(name, mappers, store).at(size.of(name)) for name in costs.phases_s}
