"""What the figures of a query that headway did not write support saying about it."""

from __future__ import annotations

from collections.abc import Callable

from headway.measure.watched import Watched
from headway.units import format_duration

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
PARTITIONS = "spark.sql.shuffle.partitions"
FIXED = ("source", "offsets", "planning", "launch", "commit")
ENOUGH = 3  # batches without which nothing is said
Rule = Callable[[Watched], str | None]


def advise(seen: Watched) -> list[str]:
    """Advice that the figures support, the most pressing first; at least one sentence."""
    if len(seen.batches) < ENOUGH:
        return [f"only {len(seen.batches)} batches were seen; watch it for longer to judge it"]
    found = [said for rule in RULES if (said := rule(seen)) is not None]
    return found or [nothing_wrong(seen)]


def falls_behind(seen: Watched) -> str | None:
    """More comes in than is processed."""
    rates = [batch.per_s for batch in seen.batches if batch.per_s is not None and batch.per_s[0]]
    behind = [rate for rate in rates if rate[1] < rate[0]]
    if len(behind) <= len(rates) / 2 or not rates:
        return None
    came, done = (sum(rate[n] for rate in behind) / len(behind) for n in (0, 1))
    return (
        f"it falls behind: {came:,.0f} records/s come in and {done:,.0f} are processed, so answers "
        "get later and later. Give it more cores, or limit what a batch takes and find what is "
        "slow below"
    )


def never_rests(seen: Watched) -> str | None:
    """Batches follow upon each other, so that records queue behind the one before."""
    idle = [batch.idle_s for batch in seen.batches if batch.idle_s is not None]
    rested = [gap for gap in idle if gap > 0.05 * max(seen.took_s, 0.001)]
    if not idle or len(rested) > len(idle) / 10 or seen.took_s < 0.5:
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
    number = int(seen.settings.get(PARTITIONS, "0") or 0)
    if not seen.cores or number <= 4 * seen.cores:
        return None
    return (
        f"{PARTITIONS} is {number} on {seen.cores} cores, so each batch starts {number} tasks that "
        "reduce, each with a state of its own to commit: begin a checkpoint anew with "
        f"{seen.cores} to {4 * seen.cores}"
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
