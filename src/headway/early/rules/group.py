"""Groups: complete at once, summed along, merged at each point, or computed at each point."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace

from headway.early.algebra import Call, Group, Output, Project, Term
from headway.early.contracts import AT_START, MOVING, Contract
from headway.early.progress import FOREVER, FROM, UNTIL
from headway.early.relation import (
    AS_IT_WAS,
    AT_POINT,
    FIRST,
    FROM_START,
    LAST,
    POINT,
    ROWS,
    Known,
    Relation,
    State,
    Step,
    listed,
    quoted,
    stabbed,
)
from headway.early.rules.parts import Parts, as_a_whole, known_types, taken_apart, wanted_types
from headway.early.rules.rows import project, steps


def group(node: Group, child: Relation, known: Known) -> Relation:
    """Aggregate by the first rule that its contract and its aggregates allow."""
    keys = plain_keys(node)
    if child.contract.determined_by(keys):
        return complete(node, child, known)
    keeps = known.keeps_state and child.forgets
    if not node.calls:
        return distinct(node, child, keeps)
    split = split_distinct(node)
    if split is not None:
        values = distinct_values(node, child, keeps)
        found = group(split, values, known)
        return replace(found, states=found.states or values.states)
    parts = parts_of(node, child, known)
    if parts is None:
        return at_each_point(node, child, known)
    if not child.contract.inclusive:
        return merged(node, child, parts)
    return summed_along(node, child, parts, keeps)


def plain_keys(node: Group) -> dict[str, str]:
    """Columns of the child that are keys as they stand, and what they are called as keys."""
    return {key.term.column: key.name for key in node.keys if key.term.column is not None}


def parts_of(node: Group, child: Relation, known: Known) -> list[Parts] | None:
    """Every aggregate taken apart, or None if one cannot be."""
    types = types_of(node.calls, child, known)
    found = []
    for n, call in enumerate(node.calls):
        parts = taken_apart(call, types[2 * n], types[2 * n + 1])
        if parts is None:
            return None
        found.append(parts)
    return found


def types_of(calls: Sequence[Call], child: Relation, known: Known) -> list[str]:
    """The types that decide how aggregates are taken apart; Spark is asked where it must be."""
    found = [known_types(call, known.columns) for call in calls]
    if all(types is not None for types in found):
        return [kind for types in found if types is not None for kind in types]
    texts = [text for call in calls for text in wanted_types(call)]
    return known.types_in(child, (call.argument for call in calls if call.argument), texts)


def complete(node: Group, child: Relation, known: Known) -> Relation:
    """Progress is a function of the keys: a group enters whole, and is done (section 2.6)."""
    starts = child.contract.at_start
    parts = exact_parts(node.calls, child, known)
    shown = [f"{key.term.text} AS `{key.name}`" for key in node.keys]
    own, times = whole(child.contract)
    by = [*(key.term.text for key in node.keys), *own]
    grouping = f" GROUP BY {listed(by)}" if by else ""
    if parts is None:
        calls = [f"{call.text} AS `{call.name}`" for call in node.calls]
        sql = f"SELECT {listed(shown, calls, times)} FROM ({child.sql}){grouping}"
    else:
        made = computing(parts)
        inside = f"SELECT {listed(shown, made, times)} FROM ({child.sql}){grouping}"
        ended = finishing(node, parts)
        names = quoted(key.name for key in node.keys)
        sql = f"SELECT {listed(names, ended, AS_IT_WAS)} FROM ({inside})"
    kept = {column: (name,) for column, name in plain_keys(node).items()}
    contract = AT_START if starts else child.contract.over(kept)
    why = "there from the start" if starts else "progress follows the key of the group"
    step = Step(title(node), "complete", why, steps([child]))
    asked = parts is None
    return Relation(sql, names_of(node), contract, step, child.local, as_asked=asked)


def whole(contract: Contract) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of groups that enter whole: what of progress is among their keys, and their interval.

    An end that all tuples share is no key: Spark aggregates in one step where all keys are columns
    and what shares them lies together, and in two where one of them is a number.
    """
    if contract.at_start:
        return (), FROM_START
    if contract.inclusive:
        return (FROM,), (FROM, f"{FOREVER} AS {UNTIL}")
    return AS_IT_WAS, AS_IT_WAS


def exact_parts(calls: Sequence[Call], child: Relation, known: Known) -> list[Parts] | None:
    """Sums and means of floats taken apart, so that no order of additions shows, the rest whole.

    None where no sum or mean is of floats.
    """
    sums = [call for call in calls if call.function in ("sum", "avg") and not call.distinct]
    if not sums:
        return None
    types = types_of(sums, child, known)
    kinds = {call.name: types[2 * n : 2 * n + 2] for n, call in enumerate(sums)}
    floats = {name: kind for name, kind in kinds.items() if kind[0] in ("double", "float")}
    if not floats:
        return None
    return [
        (taken_apart(call, *floats[call.name]) if call.name in floats else None) or as_a_whole(call)
        for call in calls
    ]


def title(node: Group) -> str:
    return "aggregate" if node.calls else "distinct"


def names_of(node: Group) -> tuple[str, ...]:
    return (*(key.name for key in node.keys), *(call.name for call in node.calls))


def finishing(node: Group, parts: list[Parts]) -> list[str]:
    return [f"{one.finish} AS `{call.name}`" for call, one in zip(node.calls, parts, strict=True)]


def computing(parts: list[Parts]) -> list[str]:
    return [f"{part.compute} AS `{part.name}`" for one in parts for part in one.parts]


def partial(node: Group, child: Relation, parts: list[Parts], times: list[str]) -> str:
    """Partial results of the tuples that share keys and progress; of no key, a row of nothing."""
    return with_nothing(partial_rows(node, child, parts, times), node, parts, len(times))


def partial_rows(node: Group, child: Relation, parts: list[Parts], times: list[str]) -> str:
    """Partial results of the tuples that share keys and progress."""
    shown = [f"{key.term.text} AS `{key.name}`" for key in node.keys]
    made = computing(parts)
    by = listed((key.term.text for key in node.keys), times)
    return f"SELECT {listed(shown, made, times)} FROM ({child.sql}) GROUP BY {by}"


def with_nothing(sql: str, node: Group, parts: list[Parts], times: int) -> str:
    """Without keys there is an answer even where there is no tuple: a row of nothing."""
    if node.keys:
        return sql
    nothing = [f"NULL AS `{part.name}`" for one in parts for part in one.parts]
    ends = [f"{FIRST} AS {FROM}", f"{FOREVER} AS {UNTIL}"][:times]
    return f"{sql} UNION ALL SELECT {listed(nothing, ends)}"


def summed_along(node: Group, child: Relation, parts: list[Parts], keeps: bool) -> Relation:
    """No tuple leaves: partial results of each point, summed along the points.

    Where the child forgets, those of earlier chunks can be kept, and its tuples are read once.
    """
    keys = quoted(key.name for key in node.keys)
    by = f"PARTITION BY {listed(keys)} " if keys else ""
    along = f"OVER ({by}ORDER BY {FROM} ROWS UNBOUNDED PRECEDING)"
    every = [part for one in parts for part in one.parts]
    sums = [f"{part.merge}(`{part.name}`) {along} AS `{part.name}`" for part in every]
    until = f"LEAD({FROM}, 1, {FOREVER}) OVER ({by}ORDER BY {FROM}) AS {UNTIL}"
    inside = partial(node, child, parts, [FROM])
    states: tuple[State, ...] = ()
    if keeps:
        state = kept_state(node, child, parts)
        shown = listed(keys, quoted(part.name for part in every), [FROM])
        inside, states = with_nothing(f"SELECT {shown} FROM {state.view}", node, parts, 1), (state,)
    running = f"SELECT {listed(keys, sums, [FROM, until])} FROM ({inside})"
    sql = (
        f"SELECT {listed(keys, finishing(node, parts), AS_IT_WAS)} FROM ({running}) "
        f"WHERE {FROM} < {UNTIL}"
    )
    why = "no tuple leaves, so each point adds to the one before"
    step = Step("aggregate", "additive", why, steps([child]))
    return Relation(sql, names_of(node), MOVING, step, states=states)


def kept_state(node: Group, child: Relation, parts: list[Parts]) -> State:
    """What is kept of a group from chunk to chunk; equal groups keep it once."""
    keys = quoted(key.name for key in node.keys)
    every = [part for one in parts for part in one.parts]
    merges = [f"{part.merge}(`{part.name}`) AS `{part.name}`" for part in every]
    grouping = f" GROUP BY {listed(keys)}" if keys else ""
    fresh = partial_rows(node, child, parts, [FROM])
    return State(view_of(fresh), fresh, f"SELECT {listed(keys, merges)} FROM {ROWS}{grouping}")


def view_of(fresh: str) -> str:
    """Under which name a state is read: equal ones have the same."""
    return f"hw_state_{hashlib.sha256(fresh.encode()).hexdigest()[:12]}"


def merged(node: Group, child: Relation, parts: list[Parts]) -> Relation:
    """Tuples leave: partial results of each interval, merged at each point that it holds."""
    keys = [key.name for key in node.keys]
    every = [part for one in parts for part in one.parts]
    inside = Relation(
        partial(node, child, parts, [FROM, UNTIL]),
        (*keys, *(part.name for part in every)),
        MOVING,
        child.step,
    )
    sums = [f"{part.merge}(`{part.name}`) AS `{part.name}`" for part in every]
    by = listed(quoted(keys), [POINT])
    at_point = (
        f"SELECT {listed(quoted(keys), sums, [POINT])} FROM ({stabbed(inside)}) GROUP BY {by}"
    )
    sql = f"SELECT {listed(quoted(keys), finishing(node, parts), AT_POINT)} FROM ({at_point})"
    why = "tuples leave, so partial results are merged at each point"
    return Relation(sql, names_of(node), MOVING, Step("aggregate", "merged", why, steps([child])))


def at_each_point(node: Group, child: Relation, known: Known) -> Relation:
    """The aggregate over the tuples of each point by itself: right for every function."""
    shown = [f"{key.term.text} AS `{key.name}`" for key in node.keys]
    by = listed((key.term.text for key in node.keys), [POINT])
    rows, calls = stabbed(child), list(node.calls)
    if not node.keys:
        # A point without tuples has an answer too, so each brings one row that is not looked at.
        names = quoted(child.columns)
        empty = listed((f"NULL AS {name}" for name in names), [POINT, "FALSE AS hw_here"])
        every = f"SELECT {empty} FROM (SELECT EXPLODE(SEQUENCE({FIRST}, {LAST})) AS {POINT})"
        rows = f"SELECT {listed(names, [POINT, 'TRUE AS hw_here'])} FROM ({rows}) UNION ALL {every}"
        calls = [looking(call) for call in node.calls]
    parts = exact_parts(calls, child, known) or [as_a_whole(call) for call in calls]
    made = computing(parts)
    inside = f"SELECT {listed(shown, made, [POINT])} FROM ({rows}) GROUP BY {by}"
    keys = quoted(key.name for key in node.keys)
    sql = f"SELECT {listed(keys, finishing(node, parts), AT_POINT)} FROM ({inside})"
    why = "an aggregate that cannot be taken apart"
    return Relation(
        sql, names_of(node), MOVING, Step("aggregate", "recompute", why, steps([child]))
    )


def looking(call: Call) -> Call:
    """The aggregate over real tuples alone."""
    if call.where is None:
        here = Term("hw_here", frozenset({"hw_here"}))
        return replace(call, text=f"{call.text} FILTER (WHERE hw_here)", where=here)
    before = call.text[: call.text.rindex(call.where.text)]
    bare = re.sub(r"\s*FILTER\s*\(\s*WHERE\s*$", "", before, flags=re.IGNORECASE)
    both = f"hw_here AND ({call.where.text})"
    where = Term(both, call.where.columns | {"hw_here"})
    return replace(call, text=f"{bare} FILTER (WHERE {both})", where=where)


def distinct(node: Group, child: Relation, keeps: bool) -> Relation:
    """Each combination of keys once: from its first tuple on, or at each point.

    Where the child forgets, those of earlier chunks can be kept, and its tuples are read once.
    """
    shown = [f"{key.term.text} AS `{key.name}`" for key in node.keys]
    by = listed(key.term.text for key in node.keys)
    if child.contract.inclusive:
        seen = f"MIN({FROM}) AS {FROM}"
        fresh = f"SELECT {listed(shown, [seen])} FROM ({child.sql}) GROUP BY {by}"
        sql = f"SELECT *, {FOREVER} AS {UNTIL} FROM ({fresh})"
        states: tuple[State, ...] = ()
        if keeps:
            names = listed(quoted(key.name for key in node.keys))
            state = State(view_of(fresh), fresh, f"SELECT DISTINCT {names} FROM {ROWS}")
            states = (state,)
            sql = f"SELECT {names}, {seen}, {FOREVER} AS {UNTIL} FROM {state.view} GROUP BY {names}"
        step = Step("distinct", "additive", "seen once, seen for good", steps([child]))
        return Relation(sql, names_of(node), Contract(inclusive=True), step, states=states)
    sql = f"SELECT DISTINCT {listed(shown, AT_POINT)} FROM ({stabbed(child)})"
    step = Step("distinct", "recompute", "tuples leave", steps([child]))
    return Relation(sql, names_of(node), MOVING, step)


def split_distinct(node: Group) -> Group | None:
    """The same aggregates over distinct values, if all of them look at the same ones."""
    arguments = {call.argument for call in node.calls}
    plain = {"min", "max"}
    asked = all(c.distinct or c.function in plain for c in node.calls)
    if not asked or not any(c.distinct for c in node.calls) or len(arguments) != 1:
        return None
    if any(c.argument is None or c.where or c.function not in DISTINCT for c in node.calls):
        return None
    value = Term("`hw_value`", frozenset({"hw_value"}))
    calls = tuple(
        Call(c.name, c.function, value, f"{c.function.upper()}(`hw_value`)", columns=value.columns)
        for c in node.calls
    )
    keys = tuple(Output(k.name, Term(f"`{k.name}`", frozenset({k.name}))) for k in node.keys)
    return Group(node.child, keys, calls)


DISTINCT = ("count", "sum", "avg", "min", "max")


def distinct_values(node: Group, child: Relation, keeps: bool) -> Relation:
    """The distinct pairs of keys and value that `split_distinct` aggregates."""
    argument = node.calls[0].argument or Term("NULL", frozenset())
    keys = (*node.keys, Output("hw_value", argument))
    if child.contract.determined_by(plain_keys(Group(node.child, keys))):
        names = quoted(key.name for key in keys)
        shown = Project(node.child, keys)
        one = project(shown, child)
        own, times = whole(one.contract)
        once = f"SELECT DISTINCT {listed(names, own)} FROM ({one.sql})"
        sql = f"SELECT {listed(names, times)} FROM ({once})"
        return Relation(sql, one.columns, one.contract, child.step, child.local)
    return distinct(Group(node.child, keys), child, keeps)
