"""The steps that a workload is run through: to warm up, to learn from, to judge by, to measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from headway.measure.costs.stores import STORE_NAMES, STORES, Store
from headway.model.candidate import Candidate

# The intervals that a profile is made with, by turns, and how long each of them at a time: clocks
# so slow that they make the size of a batch, and one turn without, for what lies between batches.
SHORT_S = 0.5  # too short for batches of many records
PROFILED_S = {0.0: 3.0, SHORT_S: 5.0, 1.0: 6.0, 3.0: 12.0}
WARM_S, WARM_SHARE = 8.0, 0.2  # how long a flow is warmed up, for half of it with so few records
LADEN_S = 60.0  # and how long with many
# Times a rate: many records tell what each one adds. Few tell what is fixed, and need less time.
MANY, BRIEF_S = 8.0, (SHORT_S, 1.0)
LONG_S = 10.0  # a turn that a quick look goes without
FASTEST = 4.0  # times the rate that is learned at, the highest that is foretold
# By turns, so that of any two in a row one has each number of readers.
JUDGED, JUDGED_S = ((0.25, 2), (0.6, 1), (0.6, 2), (0.25, 1)), 6.0
REST_S, LULL = 2.0, 0.02  # how long after a step hardly a record comes, and how few
BEGIN_S = 6.0  # the same in a query that is new: its first batches take many times as long


@dataclass(frozen=True, slots=True)
class Setting:
    """How a flow is run for a while: records a second, time between batches, tasks that read.

    And where its states rest; None where that is left to headway's own settings: in RocksDB.
    """

    rate_per_s: float
    interval_s: float
    readers: int = 2
    store: Store | None = None

    @property
    def text(self) -> str:
        """The setting in a few words, without its rate."""
        every = f"every {self.interval_s:g} s" if self.interval_s else "at once"
        rest = f", states in {STORE_NAMES[self.store]}" if self.store else ""
        return f"{every}, {self.readers} reader{'s' if self.readers > 1 else ''}{rest}"

    def candidate(self, cores: int) -> Candidate:
        """The setting as the model takes it."""
        return Candidate(
            "micro-batch", 1, cores, self.readers, cores, interval_s=self.interval_s,
            store=self.store,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Step:
    """A setting that is held for so long, its first part being warm-up."""

    setting: Setting
    seconds: float
    warm_s: float
    learned: bool = False  # whether a profile is made of it
    judged: bool = False  # whether it tells how costs have changed since
    rest_s: float = REST_S  # how long hardly a record comes after it


def turns_at(rate_per_s: float) -> list[Step]:
    """What a profile is made of: several intervals and numbers of readers, all at one rate."""
    return [
        Step(Setting(rate_per_s, every, readers), seconds, 0.0, learned=True)
        for readers in (2, 1)
        for every, seconds in PROFILED_S.items()
    ]


def warming(
    rate_per_s: float, seconds: float, many: float = 1.0, laden_s: float = LADEN_S
) -> list[Step]:
    """A while to warm up: many small batches, for Spark plans each anew, then as they will be.

    And then for `laden_s` batches of `many` times as many records: after a while Java halves what
    each record costs, and of few it takes no notice.
    """
    steps = [(share, seconds / 4) for share in (WARM_SHARE, 1.0)]
    steps += [(many, laden_s / 2)] if many > 1 else []
    found = [
        Step(Setting(rate_per_s * share, 0.0, readers), each_s, each_s)
        for share, each_s in steps
        for readers in (2, 1)
    ]
    # What has piled up while Java was slow is worked off before anything is learned.
    return [*found, Step(Setting(rate_per_s * LULL, 0.0), BEGIN_S, BEGIN_S)]


def learning_first(rate_per_s: float, quick: bool) -> list[Step]:
    """What a first plan is made of: steps with states in each store, by any number of readers.

    All of it is run once to warm up, since Java compiles what each store and each way of reading
    needs when it is needed, and then to learn from. First in one store, then in the other, and the
    rest in the first again, so that neither has a JVM that is older than the other's.
    """
    few, many = turns_at(rate_per_s), turns_at(rate_per_s * MANY)
    few = [turn for turn in few if turn.setting.interval_s in BRIEF_S]
    many = [turn for turn in many if turn.setting.interval_s != SHORT_S]
    half = len(many) // 2
    if quick:
        warm = warming(rate_per_s, WARM_S, MANY)
        begun = [replace(step, seconds=step.seconds / 4) for step in warm]
        rounds = [begun + many[:half], begun[-1:] + many[:half]]
    else:
        begun = warming(rate_per_s, WARM_S)
        whole = [begun + grown(few + many)] * len(STORES)
        learned = [few + many[:half], few + many, many[half:]]
        rounds = [*whole, *(begun[-1:] + some for some in learned)]
    steps = [
        at_rest(step, STORES[number % len(STORES)])
        for number, some in enumerate(rounds)
        for step in some
    ]
    return [*steps, Step(steps[-1].setting, REST_S, 0.0)]


def grown(steps: Sequence[Step]) -> list[Step]:
    """The same steps, only to warm up."""
    return [replace(step, warm_s=step.seconds, learned=False) for step in steps]


def learned_first(
    wanted: Sequence[Step], rate_per_s: float, rounds: int, quick: bool = False
) -> list[Step]:
    """Steps to measure after turns to learn from, in one session, so that both have the same JVM.

    Before each of them, and after the last, the rate that was learned at comes back for a while: a
    JVM gets faster, and the host slower, so what was learned minutes ago is brought up to date.
    Those whose states rest in one store are run together, and so is what is learned of that store.
    """
    turns = [turn for turn in turns_at(rate_per_s) if not quick or turn.seconds < LONG_S]
    found: list[Step] = []
    stores = list(dict.fromkeys(step.setting.store for step in wanted))
    for store in stores:  # Java compiles what each of them needs, and that for many records
        laden_s = LADEN_S / 2 if rounds == 1 else LADEN_S
        warm = warming(rate_per_s, WARM_S, 1.0 if quick else FASTEST, laden_s)
        found += [at_rest(step, store) for step in warm + turns * rounds]
    in_order = sorted(wanted, key=lambda step: -stores.index(step.setting.store))
    for place, step in enumerate(in_order):
        store = step.setting.store
        if found[-1].setting.store != store:
            found.append(Step(Setting(rate_per_s * LULL, 0.0, store=store), BEGIN_S, BEGIN_S))
        found += [at_rest(judging(rate_per_s, place), store), *drained([step])]
    last = at_rest(judging(rate_per_s, len(wanted)), in_order[-1].setting.store)
    return [*found, last]


def at_rest(step: Step, store: Store | None) -> Step:
    """The same step with its states in a store."""
    return replace(step, setting=replace(step.setting, store=store))


def judging(rate_per_s: float, place: int) -> Step:
    """The step to judge by that has its turn."""
    every, readers = JUDGED[place % len(JUDGED)]
    return Step(Setting(rate_per_s, every, readers), JUDGED_S, 0.0, judged=True)


def drained(steps: Sequence[Step], begin_s: float = REST_S) -> list[Step]:
    """Steps with a lull before each, so that none pays for what the one before has left.

    Another store is another run, which begins slowly.
    """
    found: list[Step] = []
    rest_s = begin_s
    for step in steps:
        own = step.setting
        if found and found[-1].setting.store != own.store:
            rest_s = max(rest_s, BEGIN_S)
        lull = Setting(own.rate_per_s * LULL, own.interval_s, 2, own.store)
        found += [Step(lull, rest_s, rest_s), step]
        rest_s = step.rest_s
    return found
