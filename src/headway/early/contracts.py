"""What is known of a relation's progress before any tuple is read: its contract.

A contract says whether every tuple is there from the first point on, whether none ever leaves,
and which columns the progress of a tuple is a function of. Contracts pass through operators and
decide which rule applies: where progress follows the key of a group, the group is complete when
its point has passed and can be forgotten (paper 5, section 2.6).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from headway.early.algebra import Condition

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Contract:
    """The progress of a relation's tuples, as far as it is known.

    `function` names how progress follows from a key (strategy, seed, points); two relations whose
    functions and keys agree put equal keys at equal points.
    """

    at_start: bool = False
    inclusive: bool = True
    keys: frozenset[Key] = frozenset()
    function: str = ""

    def over(self, names: Mapping[str, Iterable[str]]) -> Contract:
        """The contract under other column names; a key that loses a column is lost."""
        kept = {
            renamed
            for key in self.keys
            if all(column in names for column in key)
            for renamed in product(*(tuple(names[column]) for column in key))
        }
        return self.with_keys(frozenset(kept))

    def with_keys(self, keys: frozenset[Key]) -> Contract:
        return Contract(self.at_start, self.inclusive, keys, self.function if keys else "")

    def determined_by(self, columns: Iterable[str]) -> bool:
        """Whether tuples that agree in these columns enter and leave together."""
        known = set(columns)
        return self.at_start or any(known.issuperset(key) for key in self.keys)


AT_START = Contract(at_start=True)
MOVING = Contract(inclusive=False)
WHOLE = ("tinyint", "smallint", "int", "bigint")


def hashed_as(kind: str) -> str | None:
    """What a key's type is hashed as: equal values of equal kinds have equal hashes.

    >>> hashed_as("int"), hashed_as("decimal(12,2)"), hashed_as("double")
    ('whole', 'decimal(12,2)', None)
    """
    if kind in WHOLE:
        return "whole"
    plain = ("string", "date", "timestamp", "timestamp_ntz", "boolean", "binary")
    return kind if kind in plain or kind.startswith("decimal") else None


def grouped_alike(one: str, other: str) -> bool:
    """Whether a value of one type equals at most one group of values of the other.

    The number 5 equals the strings '5' and '05', which are two groups; of types that are not known
    nothing is said.

    >>> grouped_alike("int", "bigint"), grouped_alike("bigint", "string"), grouped_alike("", "")
    (True, False, False)
    """
    return bool(one) and (one == other or (one in WHOLE and other in WHOLE))


class Classes:
    """Columns that conditions make equal, so that they have the same hash in every row.

    An equality says so where both types are known and hashed alike, and nothing otherwise.
    """

    def __init__(self, conditions: Iterable[Condition], types: Mapping[str, str]) -> None:
        self._members: dict[str, frozenset[str]] = {}
        for condition in conditions:
            pair = condition.equality
            if pair is None:
                continue
            kinds = {hashed_as(types.get(column, "")) for column in (pair.left, pair.right)}
            if len(kinds) == 1 and None not in kinds:
                self._join(pair.left, pair.right)

    def _join(self, left: str, right: str) -> None:
        both = self.of(left) | self.of(right)
        for column in both:
            self._members[column] = both

    def of(self, column: str) -> frozenset[str]:
        """The column and all that equal it."""
        return self._members.get(column, frozenset({column}))

    def equal(self, one: Key, other: Key) -> bool:
        """Whether two keys have equal values in every row."""
        return len(one) == len(other) and all(
            b in self.of(a) for a, b in zip(one, other, strict=True)
        )


def aligned(contracts: Iterable[Contract], classes: Classes) -> bool:
    """Whether rows that meet in a join always have equal progress.

    Relations that are there from the start have no say. The others must follow the same function
    of keys that the join makes equal; then the cross terms between points are empty.
    """
    return share_a_key([contract for contract in contracts if not contract.at_start], classes)


def share_a_key(contracts: Sequence[Contract], classes: Classes) -> bool:
    """Whether all relations follow the same function of keys that are equal where they meet."""
    return all(
        one.function
        and one.function == contracts[0].function
        and any(classes.equal(a, b) for a in contracts[0].keys for b in one.keys)
        for one in contracts[1:]
    )


def joint(contracts: list[Contract], classes: Classes) -> Contract:
    """The contract of an inner join."""
    inclusive = all(contract.inclusive for contract in contracts)
    if all(contract.at_start for contract in contracts):
        return AT_START
    if not aligned(contracts, classes):
        return Contract(inclusive=inclusive)
    moving = [contract for contract in contracts if not contract.at_start]
    keys = {
        same
        for contract in moving
        for key in contract.keys
        for same in product(*(sorted(classes.of(column)) for column in key))
    }
    return Contract(False, inclusive, frozenset(keys), moving[0].function if keys else "")
