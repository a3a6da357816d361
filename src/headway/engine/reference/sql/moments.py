"""Timestamps and dates: whole microseconds, and the texts that Spark reads and writes."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from headway.engine.reference.sql.types import SqlFault

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
DAY = r"([+-]?\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2}))?)?"
CLOCK = r"(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d*))?)?)?"
DATE_TEXT = re.compile(rf"{DAY}(?:(?<=-\d)[T ].*|(?<=-\d\d)[T ].*)?", re.ASCII | re.DOTALL)
MOMENT_TEXT = re.compile(rf"{DAY}(?:[T ]{CLOCK}\s*(\S.*)?)?", re.ASCII)
OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{1,2}))?", re.ASCII)


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
    found = DATE_TEXT.fullmatch(text.strip())
    if not found:
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
    found = MOMENT_TEXT.fullmatch(text.strip())
    if not found or (found[4] and not found[3]):
        raise refused_time(text, "timestamp")
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
    fraction = int(((found[7] or "") + "000000")[:6])
    try:
        zone = read_zone(found[8] or "Z")
        local = datetime(year, month or 1, day or 1, hour, minute, second, fraction, tzinfo=zone)
    except (ValueError, KeyError):
        raise refused_time(text, "timestamp") from None
    return local.astimezone(UTC)


def read_zone(text: str) -> tzinfo:
    """A zone by its offset or its name.

    >>> read_zone("UTC+1"), read_zone("Europe/Paris")
    (datetime.timezone(datetime.timedelta(seconds=3600)), zoneinfo.ZoneInfo(key='Europe/Paris'))
    """
    if text in ("Z", "UTC", "GMT", "UT"):
        return UTC
    found = OFFSET.fullmatch(text)
    if not found:
        return ZoneInfo(text)
    span = timedelta(hours=int(found[2]), minutes=int(found[3] or 0))
    return timezone(-span if found[1] == "-" else span)


def write_moment(when: datetime) -> str:
    """A timestamp as Spark writes it: no zone, and no zeros at the end of the fraction."""
    plain = when.strftime("%Y-%m-%d %H:%M:%S").rjust(19, "0")
    fraction = f"{when.microsecond:06d}".rstrip("0")
    return f"{plain}.{fraction}" if fraction else plain
