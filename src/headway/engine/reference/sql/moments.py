"""Timestamps and dates: whole microseconds, and the texts that Spark reads and writes."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

from headway.engine.reference.sql.types import SqlFault

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
DAY = re.compile(r"([+-]?\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
CLOCK = re.compile(r"(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d*))?)?")
ZONE = re.compile(r"(?:Z|UTC|GMT)?(?:([+-])(\d{1,2})(?::?(\d{2}))?)?")


def micros_of(when: datetime) -> int:
    """Microseconds since 1970."""
    return (when - EPOCH) // MICROSECOND


def moment(micros: int) -> datetime:
    """The timestamp at so many microseconds since 1970."""
    try:
        return EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        raise SqlFault(
            f"{micros} us since 1970 is outside the years 1 to 9999 that Python can hold"
        ) from None


def refused_time(text: str, kind: str) -> SqlFault:
    """The error for a text that is no time."""
    return SqlFault(
        f"{text!r} is not a {kind}; use try_cast to get NULL, or filter such records out"
    )


def read_date(text: str) -> date:
    """The date that a text begins with.

    >>> read_date(" 2024-3-7 "), read_date("2024-03-07T12:00")
    (datetime.date(2024, 3, 7), datetime.date(2024, 3, 7))
    """
    plain = text.strip()
    day, separator, _ = plain.partition("T") if "T" in plain else plain.partition(" ")
    found = DAY.fullmatch(day)
    if not found or (separator and not found[3]):
        raise refused_time(text, "date")
    try:
        return date(int(found[1]), int(found[2] or 1), int(found[3] or 1))
    except ValueError:
        raise refused_time(text, "date") from None


def read_moment(text: str) -> datetime:
    """The timestamp that a text means; UTC unless it names an offset.

    >>> read_moment("2024-03-07 12:30:00.25+01:00").isoformat()
    '2024-03-07T11:30:00.250000+00:00'
    """
    plain = text.strip()
    found = re.fullmatch(r"([^T ]+)(?:[T ]\s*([\d:.]+)\s*(.*))?", plain)
    if not found:
        raise refused_time(text, "timestamp")
    day = DAY.fullmatch(found[1])
    clock = CLOCK.fullmatch(found[2] or "0:0")
    zone = ZONE.fullmatch(found[3] or "")
    if not day or not clock or not zone or (found[2] and not day[3]):
        raise refused_time(text, "timestamp")
    hour, minute, second = (int(part or 0) for part in clock.groups()[:3])
    fraction = int(((clock[4] or "") + "000000")[:6])
    offset = timedelta(hours=int(zone[2] or 0), minutes=int(zone[3] or 0))
    try:
        local = datetime(int(day[1]), int(day[2] or 1), int(day[3] or 1), hour, minute, second,
                         fraction, tzinfo=UTC)  # fmt: skip
    except ValueError:
        raise refused_time(text, "timestamp") from None
    return local + offset if zone[1] == "-" else local - offset


def write_moment(when: datetime) -> str:
    """A timestamp as Spark writes it: no zone, and no zeros at the end of the fraction."""
    plain = when.strftime("%Y-%m-%d %H:%M:%S").rjust(19, "0")
    fraction = f"{when.microsecond:06d}".rstrip("0")
    return f"{plain}.{fraction}" if fraction else plain
