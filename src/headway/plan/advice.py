"""What the figures of a query that headway did not write support saying about it."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

from headway.measure.watched import Watched
from headway.units import format_duration

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
PARTITIONS = "spark.sql.shuffle.partitions"
FIXED = ("source", "offsets", "planning", "launch", "commit")
ENOUGH = 3  # batches without which nothing is said
GROWN = 1.3  # by this factor over the time that was watched: no accident
Rule = Callable[[Watched], str | None]


def advise(seen: Watched) -> list[str]:
    """Advice that the figures support, the most pressing first; at least one sentence."""
    if len(seen.batches) < ENOUGH:
        return [f"only {len(seen.batches)} batches were seen; watch it for longer to judge it"]
    found = [said for rule in RULES if (said := rule(seen)) is not None]
    return found or [nothing_wrong(seen)]


def falls_behind(seen: Watched) -> str | None:
    """Batches follow upon each other and grow: more comes in than is processed."""
    third = len(seen.batches) // 3
    if third < 2 or not restless(seen):
        return None
    first, last = seen.batches[:third], seen.batches[-third:]
    begun, now = (median([batch.rows or 0 for batch in part]) for part in (first, last))
    took, takes = (median([batch.took_s for batch in part]) for part in (first, last))
    if not begun or now < GROWN * begun or takes < GROWN * took:
        return None
    return (
        f"it falls behind: its batches follow upon each other and have grown from {begun:,.0f} to "
        f"{now:,.0f} records, so answers get later and later. Give it more cores, or find what is "
        "slow below"
    )


def restless(seen: Watched) -> bool:
    """Whether there is hardly any time between batches."""
    idle = [batch.idle_s for batch in seen.batches if batch.idle_s is not None]
    rested = [gap for gap in idle if gap > 0.05 * max(seen.took_s, 0.001)]
    return bool(idle) and len(rested) <= len(idle) / 10


def never_rests(seen: Watched) -> str | None:
    """Batches follow upon each other, so that records queue behind the one before."""
    if not restless(seen) or seen.took_s < 0.5:
        return None
    return (
        f"it never rests between batches of {text(seen.took_s)}: a record waits half a batch "
        "before its own begins, on average. What shortens a batch counts one and a half times"
    )


def slow_states(seen: Watched) -> str | None:
    """States are kept in a way that costs."""
    share = seen.share("state")
    provider = seen.settings.get(PROVIDER, "")
    if share > 0.15 and provider and "RocksDB" not in provider:
        return (
            f"bringing states to disk takes {share:.0%} of a batch, in Spark's default store, "
            f"which holds them in memory and writes them as maps: set {PROVIDER} to RocksDB's"
        )
    if share > 0.15 and "RocksDB" in provider and seen.settings.get(CHANGELOG) != "true":
        return (
            f"bringing states to disk takes {share:.0%} of a batch: set {CHANGELOG}=true, so that "
            "a batch writes what changed and whole snapshots are made beside it"
        )
    return None


def many_tasks(seen: Watched) -> str | None:
    """Each batch starts far more tasks than there are cores."""
    number = round(median([batch.tasks for batch in seen.batches]))
    if not seen.cores or number <= 4 * seen.cores:
        return None
    return (
        f"each batch starts {number} tasks on {seen.cores} cores, and each that reduces has a "
        f"state of its own to commit: begin a checkpoint anew with {PARTITIONS} from {seen.cores} "
        f"to {4 * seen.cores}"
    )


def mostly_fixed(seen: Watched) -> str | None:
    """What a batch costs whatever it holds is most of its time."""
    share = seen.share(*FIXED)
    if share < 0.5:
        return None
    return (
        f"{share:.0%} of a batch of {text(seen.took_s)} is spent on what every batch costs (asking "
        "the source, logs, planning, starting tasks), not on records: make batches rarer, or run "
        "the query in real-time mode, where there are none"
    )


def unseen(seen: Watched) -> str | None:
    """Most of the time cannot be told apart."""
    share = seen.share("unexplained")
    if share < 0.5:
        return None
    return f"{share:.0%} of a batch cannot be told apart from here; " + (
        seen.missing[0] if seen.missing else "run it with headway.stream(df) to see more"
    )


RULES: tuple[Rule, ...] = (
    falls_behind, slow_states, many_tasks, mostly_fixed, never_rests, unseen
)  # fmt: skip


def nothing_wrong(seen: Watched) -> str:
    """What to say where no rule applies."""
    phases = {name: spent for name, spent in seen.phases_s.items() if spent}
    if not phases:
        return f"a batch takes {text(seen.took_s)}; nothing stands out"
    name = max(phases, key=lambda each: phases[each])
    return f"nothing stands out: a batch takes {text(seen.took_s)}, most of it in {name!r}"


def text(seconds: float) -> str:
    """A duration for a sentence."""
    return format_duration(round(seconds, 3))
