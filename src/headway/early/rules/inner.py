"""Inner joins and filters: an output holds where all its inputs hold (paper 5, section 2.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from headway.early.algebra import Group, Inner, Node, Project
from headway.early.contracts import Classes, Contract, aligned, joint, share_a_key
from headway.early.progress import FOREVER, FROM, UNTIL
from headway.early.relation import FROM_START, Relation, Step, listed, quoted
from headway.early.rules.rows import steps

GENERATES = r"\b(explode|posexplode|inline|stack|json_tuple)(_outer)?\s*\("


def inner(node: Inner, sources: list[Relation]) -> Relation:
    """Join relations by intersecting intervals; aligned ones need no comparison at all."""
    texts = [condition.term.text for condition in node.conditions]
    columns = tuple(name for source in sources for name in source.columns)
    types = {name: kind for source in sources for name, kind in source.types.items()}
    classes = Classes(node.conditions, types)
    if len(sources) == 1:
        return filtered(sources[0], texts, classes)
    contracts = [source.contract for source in sources]
    contract = joint(contracts, classes)
    is_aligned = aligned(contracts, classes)
    times, overlap = meeting(contracts, is_aligned)
    tables = [f"({listing(source, n)}) AS t{n}" for n, source in enumerate(sources)]
    where = " AND ".join(f"({text})" for text in [*texts, *overlap])
    # Tables that share a key lie apart by it: what Spark would send around is there already. As it
    # merges two, it copies the rows on the right that match: of the smaller one there are few.
    apart = len(sources) == 2 and share_a_key(contracts, classes)
    if apart and 0 < sources[0].rows < sources[1].rows:
        tables.reverse()
    how = "/*+ MERGE(t0, t1) */ " if apart else ""
    sql = f"SELECT {how}{listed(quoted(columns), times)} FROM {' JOIN '.join(tables)}"
    if where:
        sql += f" WHERE {where}"
    settled = is_aligned and all(source.local for source in sources)
    step = Step("join", *named(node, contracts, is_aligned), steps(sources))
    return Relation(sql, columns, contract, step, settled)


def named(node: Inner, contracts: Sequence[Contract], is_aligned: bool) -> tuple[str, str]:
    """The rule by which relations are joined, and why."""
    moving = [one for one, c in zip(node.sources, contracts, strict=True) if not c.at_start]
    single = [one for one in moving if is_one_row(one)]
    if single and len(moving) - len(single) <= 1:
        return "beside a value", "one row for all rows of the same point"
    if is_aligned and len(moving) > 1:
        return "aligned", "sides share key and seed, so no cross terms"
    if is_aligned:
        return "aligned", "others are there from the start"
    return "intersected", "sides do not share a key, so early results are of few pairs"


def is_one_row(node: Node) -> bool:
    """Whether a relation has one row at each point: an aggregate of all that there is."""
    if isinstance(node, Project):
        made = " ".join(output.term.text for output in node.outputs)
        return is_one_row(node.child) and not re.search(GENERATES, made, re.IGNORECASE)
    return isinstance(node, Group) and not node.keys


def filtered(source: Relation, texts: list[str], classes: Classes) -> Relation:
    """A filter: tuples stay or go as a whole.

    The relation must have a name: without one, Spark takes `WHERE (column)` for it.
    """
    if not texts:
        return source
    where = " AND ".join(f"({text})" for text in texts)
    kept = {column: tuple(sorted(classes.of(column))) for column in source.columns}
    known = {c: [same for same in equals if same in source.columns] for c, equals in kept.items()}
    return Relation(
        f"SELECT * FROM ({source.sql}) AS s WHERE {where}",
        source.columns,
        source.contract.over(known),
        source.step,
        source.local,
        rows=source.rows,
    )


def listing(source: Relation, n: int) -> str:
    """A side of the join with progress columns of its own."""
    shown = listed(quoted(source.columns), [f"{FROM} AS f{n}", f"{UNTIL} AS u{n}"])
    return f"SELECT {shown} FROM ({source.sql})"


def meeting(contracts: Sequence[Contract], is_aligned: bool) -> tuple[list[str], list[str]]:
    """The progress columns of a join, and the condition that intervals overlap."""
    moving = [n for n, contract in enumerate(contracts) if not contract.at_start]
    if not moving:
        return list(FROM_START), []
    begins = [f"f{n}" for n in (moving[:1] if is_aligned else moving)]
    ends = [f"u{n}" for n in moving if not contracts[n].inclusive]
    # Aligned tuples enter together, but what an aggregate has made of them may end on its own.
    if is_aligned and ends:
        begins = [f"f{n}" for n in moving]
    begin = begins[0] if len(begins) == 1 else f"GREATEST({', '.join(begins)})"
    end = str(FOREVER) if not ends else ends[0] if len(ends) == 1 else f"LEAST({', '.join(ends)})"
    overlap = [f"{begin} < {end}"] if ends and len(moving) > 1 else []
    return [f"{begin} AS {FROM}", f"{end} AS {UNTIL}"], overlap
