"""Running aggregates that give one answer in whatever order the values come.

Sums of doubles are kept exactly (as fractions) and rounded once, so no order of addition shows;
Spark adds in the order of arrival and may differ in the last digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol

from headway.engine.reference.sql.casts import EXACT, fit, in_range
from headway.engine.reference.sql.order import identity, rank
from headway.engine.reference.sql.types import BIGINT, SqlFault, Type


class Fold(Protocol):
    """One aggregate of one group: takes values in, can be asked at any time."""

    def add(self, value: Any) -> None:
        """Take one value in; never null, unless the aggregate counts rows."""
        ...

    def result(self) -> Any:
        """The aggregate of the values so far."""
        ...


class Count:
    """How many values there were."""

    def __init__(self) -> None:
        self.count = 0

    def add(self, value: Any) -> None:
        """Count one more."""
        self.count += 1

    def result(self) -> int:
        """The count."""
        return self.count


class Running:
    """A value that each further value is taken into by one function; null before the first."""

    def __init__(self, take: Callable[[Any, Any], Any]) -> None:
        self.take = take
        self.value: Any = None

    def add(self, value: Any) -> None:
        """Take one value in."""
        self.value = value if self.value is None else self.take(self.value, value)

    def result(self) -> Any:
        """The value."""
        return self.value


class Total:
    """An exact sum of a type: whole numbers and decimals must not overflow it."""

    def __init__(self, kind: Type) -> None:
        self.kind = kind
        self.sum: Any = None

    def add(self, value: Any) -> None:
        """Add one value."""
        if isinstance(value, Decimal):
            self.sum = value if self.sum is None else EXACT.add(self.sum, value)
        else:
            self.sum = value if self.sum is None else self.sum + value

    def result(self) -> Any:
        """The sum, null of nothing."""
        if self.sum is None:
            return None
        return in_range(self.sum, BIGINT) if self.kind == BIGINT else fit(self.sum, self.kind)


class Moments:
    """Exact sums of doubles and of their squares; infinite and NaN values apart."""

    def __init__(self, finish: Callable[[int, Fraction, Fraction], float | None]) -> None:
        self.finish = finish
        self.count = 0
        self.sum, self.squares = Fraction(0), Fraction(0)
        self.strange = 0.0

    def add(self, value: float) -> None:
        """Take one double in."""
        self.count += 1
        if math.isfinite(value):
            exact = Fraction(value)
            self.sum += exact
            self.squares += exact * exact
        else:
            self.strange += value

    def result(self) -> float | None:
        """What `finish` makes of count, sum and squares."""
        if self.strange != 0:
            return self.finish_strange()
        return self.finish(self.count, self.sum, self.squares)

    def finish_strange(self) -> float | None:
        """The result where infinities or NaN took part."""
        alone = self.finish(self.count, Fraction(1), Fraction(self.count + 1))
        spread = self.finish in (var_pop, var_samp, stddev_pop, stddev_samp)
        return alone if alone is None else math.nan if spread else self.strange


class DecimalMean:
    """The mean of decimals."""

    def __init__(self, kind: Type) -> None:
        self.kind = kind
        self.count, self.sum = 0, Decimal(0)

    def add(self, value: Decimal) -> None:
        """Take one decimal in."""
        self.count, self.sum = self.count + 1, EXACT.add(self.sum, value)

    def result(self) -> Decimal | None:
        """The mean, null of nothing."""
        if not self.count:
            return None
        return fit(EXACT.divide(self.sum, Decimal(self.count)), self.kind)


class Distinct:
    """Another fold, which sees each different value once."""

    def __init__(self, inner: Fold) -> None:
        self.inner = inner
        self.seen: set[Hashable] = set()

    def add(self, value: Any) -> None:
        """Pass a value on unless it was there before."""
        key = identity(value)
        if key not in self.seen:
            self.seen.add(key)
            self.inner.add(value)

    def result(self) -> Any:
        """The inner fold's result."""
        return self.inner.result()


class Collected:
    """All values, in the order of their size, since Spark promises no order."""

    def __init__(self) -> None:
        self.values: list[Any] = []

    def add(self, value: Any) -> None:
        """Keep one more."""
        self.values.append(value)

    def result(self) -> list[Any]:
        """The values, sorted."""
        return sorted(self.values, key=rank)


class Extreme:
    """max_by and min_by: the value that came with the largest or least order."""

    def __init__(self, name: str, better: Callable[[Any, Any], bool]) -> None:
        self.name, self.better = name, better
        self.best: Any = None
        self.values: list[Any] = []

    def add(self, value: tuple[Any, Any]) -> None:
        """Take in a (value, order)."""
        found, order = value
        if order is None:
            return
        if self.best is None or self.better(rank(order), rank(self.best)):
            self.best, self.values = order, [found]
        elif rank(order) == rank(self.best) and identity(found) not in map(identity, self.values):
            self.values.append(found)

    def result(self) -> Any:
        """The value, refused where several share the same order."""
        if len(self.values) > 1:
            raise SqlFault(
                f"{self.name} has a tie at {self.best!r} between {self.values[0]!r} and "
                f"{self.values[1]!r}, so its answer is anyone's guess; order by something unique"
            )
        return self.values[0] if self.values else None


class Percentile:
    """An exact percentile, between two values where it falls between them."""

    def __init__(self, share: float) -> None:
        self.share = share
        self.values: list[float] = []

    def add(self, value: float) -> None:
        """Take one number in."""
        self.values.append(value)

    def result(self) -> float | None:
        """The percentile, null of nothing."""
        if not self.values:
            return None
        ordered = sorted(self.values, key=rank)
        place = self.share * (len(ordered) - 1)
        low, high = ordered[math.floor(place)], ordered[math.ceil(place)]
        if low == high:
            return low
        return (math.ceil(place) - place) * low + (place - math.floor(place)) * high


def mean(count: int, total: Fraction, _: Fraction) -> float | None:
    """The arithmetic mean."""
    return float(total / count) if count else None


def total(count: int, added: Fraction, _: Fraction) -> float | None:
    """The sum."""
    return to_double(added) if count else None


def to_double(value: Fraction) -> float:
    """The nearest double, infinite where none is near."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def var_pop(count: int, total: Fraction, squares: Fraction) -> float | None:
    """The variance of a whole population."""
    return float((squares - total * total / count) / count) if count else None


def var_samp(count: int, total: Fraction, squares: Fraction) -> float | None:
    """The variance of a sample; null for fewer than two values."""
    return float((squares - total * total / count) / (count - 1)) if count > 1 else None


def stddev_pop(count: int, total: Fraction, squares: Fraction) -> float | None:
    """The standard deviation of a whole population."""
    found = var_pop(count, total, squares)
    return None if found is None else math.sqrt(found)


def stddev_samp(count: int, total: Fraction, squares: Fraction) -> float | None:
    """The standard deviation of a sample; null for fewer than two values."""
    found = var_samp(count, total, squares)
    return None if found is None else math.sqrt(found)
