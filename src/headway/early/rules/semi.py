"""Semi and anti joins: rows that hold while a match is there, or while none is."""

from __future__ import annotations

from dataclasses import dataclass

from headway.early.algebra import Condition
from headway.early.contracts import MOVING, Classes, Contract, aligned, grouped_alike
from headway.early.progress import FOREVER, FROM, UNTIL
from headway.early.relation import (
    AS_IT_WAS,
    AT_POINT,
    POINT,
    Relation,
    Step,
    listed,
    quoted,
    stabbed,
)
from headway.early.rules.rows import steps

WHY = {
    "plain": "a match is there as long as the row it matches",
    "first match": "matches never leave, so the first one decides",
    "at each point": "matches come and go",
}


@dataclass(frozen=True, slots=True)
class Match:
    """Two relations and when a row of the right one is a match for a row of the left one."""

    left: Relation
    right: Relation
    conditions: tuple[Condition, ...]
    anti: bool

    @property
    def kind(self) -> str:
        return "ANTI" if self.anti else "SEMI"

    @property
    def on(self) -> str:
        return " AND ".join(f"({c.term.text})" for c in self.conditions) or "TRUE"

    def step(self, rule: str) -> Step:
        name = "anti join" if self.anti else "semi join"
        return Step(name, rule, WHY[rule], steps([self.left, self.right]))


def semi(match: Match) -> Relation:
    """Rows with a match (or without one): plain where progress agrees, else by first match."""
    left, right = match.left, match.right
    if right.contract.at_start or agree(left, right, match.conditions):
        sql = (
            f"SELECT {listed(quoted(left.columns), AS_IT_WAS)} FROM ({left.sql}) AS l "
            f"LEFT {match.kind} JOIN ({without_times(right)}) AS r ON {match.on}"
        )
        settled = left.local and right.local
        return Relation(sql, left.columns, left.contract, match.step("plain"), settled)
    if right.contract.inclusive and meets_one_group(match):
        return by_first_match(match)
    return at_each_point(match, match.on)


def agree(left: Relation, right: Relation, conditions: tuple[Condition, ...]) -> bool:
    """Whether a match is there exactly as long as the row that it matches."""
    both = [left.contract, right.contract]
    moving = not left.contract.at_start and not right.contract.at_start
    classes = Classes(conditions, {**left.types, **right.types})
    return moving and all(c.inclusive for c in both) and aligned(both, classes)


def without_times(relation: Relation) -> str:
    """The tuples alone, where their progress is settled."""
    return f"SELECT {listed(quoted(relation.columns))} FROM ({relation.sql})"


def meets_one_group(match: Match) -> bool:
    """Whether the join compares columns of both sides and nothing else, and of types alike.

    Then a row on the left meets at most one group of the right side's columns.
    """
    pairs = [c.equality for c in match.conditions]
    mine, theirs = set(match.left.columns), set(match.right.columns)
    types = {**match.left.types, **match.right.types}
    return bool(pairs) and all(
        pair is not None
        and (
            (pair.left in mine and pair.right in theirs)
            or (pair.right in mine and pair.left in theirs)
        )
        and grouped_alike(types.get(pair.left, ""), types.get(pair.right, ""))
        for pair in pairs
    )


def by_first_match(match: Match) -> Relation:
    """A row holds from its first match on (or until it)."""
    left, theirs = match.left, set(match.right.columns)
    pairs = [c.equality for c in match.conditions if c.equality is not None]
    keys = sorted({pair.left if pair.left in theirs else pair.right for pair in pairs})
    found = (
        f"SELECT {listed(quoted(keys))}, MIN({FROM}) AS hw_found FROM ({match.right.sql}) "
        f"GROUP BY {listed(quoted(keys))}"
    )
    if match.anti:
        times = [FROM, f"LEAST({UNTIL}, COALESCE(hw_found, {FOREVER})) AS {UNTIL}"]
        kind, contract = "LEFT", MOVING
    else:
        times = [f"GREATEST({FROM}, hw_found) AS {FROM}", UNTIL]
        kind, contract = "INNER", Contract(inclusive=left.contract.inclusive)
    sql = (
        f"SELECT * FROM (SELECT {listed(quoted(left.columns), times)} FROM ({left.sql}) AS l "
        f"{kind} JOIN ({found}) AS r ON {match.on}) WHERE {FROM} < {UNTIL}"
    )
    return Relation(sql, left.columns, contract, match.step("first match"))


def at_each_point(match: Match, on: str) -> Relation:
    """The join at each point of the chunk by itself."""
    left = match.left
    sql = (
        f"SELECT {listed(quoted(left.columns), AT_POINT)} FROM ({stabbed(left)}) AS l "
        f"LEFT {match.kind} JOIN ({match.right.sql}) AS r "
        f"ON r.{FROM} <= l.{POINT} AND l.{POINT} < r.{UNTIL} AND {on}"
    )
    return Relation(sql, left.columns, MOVING, match.step("at each point"))


def not_in(match: Match) -> Relation:
    """NOT IN: a comparison that is unknown counts as a match.

    The last condition is the comparison; those before it bind the subquery to its row.
    """
    *bound, compared = match.conditions
    left, right = match.left, match.right
    pair = compared.equality
    if right.contract.at_start and not bound and pair is not None:
        mine, theirs = (
            (pair.left, pair.right) if pair.left in left.columns else (pair.right, pair.left)
        )
        test = f"`{mine}` NOT IN (SELECT `{theirs}` FROM ({right.sql}))"
        sql = f"SELECT * FROM ({left.sql}) AS l WHERE {test}"
        settled = left.local and right.local
        return Relation(sql, left.columns, left.contract, match.step("plain"), settled)
    text = compared.term.text
    on = Match(left, right, tuple(bound), anti=True).on
    return at_each_point(match, f"{on} AND (({text}) OR ({text}) IS NULL)")
