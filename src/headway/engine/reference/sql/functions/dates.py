"""Functions of timestamps and dates, all in UTC as headway's sessions are."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from headway.engine.reference.sql.arithmetic import shift_days
from headway.engine.reference.sql.casts import in_range
from headway.engine.reference.sql.moments import micros_of, moment, read_date, read_moment
from headway.engine.reference.sql.typed import Rule, Typed, cast, strict, strictly
from headway.engine.reference.sql.types import (
    BIGINT,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    SqlFault,
    decimal,
)
from headway.errors import FlowError

WRITTEN: dict[str, Callable[[datetime], str]] = {
    "yyyy": lambda t: f"{t.year:04d}",
    "yy": lambda t: f"{t.year % 100:02d}",
    "y": lambda t: str(t.year),
    "MMMM": lambda t: calendar.month_name[t.month],
    "MMM": lambda t: calendar.month_abbr[t.month],
    "MM": lambda t: f"{t.month:02d}",
    "M": lambda t: str(t.month),
    "dd": lambda t: f"{t.day:02d}",
    "d": lambda t: str(t.day),
    "D": lambda t: str(t.timetuple().tm_yday),
    "DDD": lambda t: f"{t.timetuple().tm_yday:03d}",
    "XXX": lambda _: "Z",
    "EEEE": lambda t: calendar.day_name[t.weekday()],
    "EEE": lambda t: calendar.day_abbr[t.weekday()],
    "E": lambda t: calendar.day_abbr[t.weekday()],
    "HH": lambda t: f"{t.hour:02d}",
    "H": lambda t: str(t.hour),
    "hh": lambda t: f"{(t.hour - 1) % 12 + 1:02d}",
    "h": lambda t: str((t.hour - 1) % 12 + 1),
    "mm": lambda t: f"{t.minute:02d}",
    "m": lambda t: str(t.minute),
    "ss": lambda t: f"{t.second:02d}",
    "s": lambda t: str(t.second),
    "a": lambda t: "AM" if t.hour < 12 else "PM",
}
TOKEN = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|.", re.DOTALL)
UNITS = ("microsecond", "millisecond", "second", "minute", "hour", "day", "month", "year")
FLOOR_US = {"microsecond": 1, "millisecond": 1_000, "second": 1_000_000, "minute": 60_000_000,
            "hour": 3_600_000_000, "day": 86_400_000_000}  # fmt: skip
SHORT = {"mon": "month", "mm": "month", "yyyy": "year", "yy": "year", "dd": "day"}


def written(when: datetime, pattern: str) -> str:
    """A timestamp by a pattern such as ``yyyy-MM-dd HH:mm``.

    >>> written(datetime(2024, 3, 7, 15, 4), "d MMM yyyy, h:mm a")
    '7 Mar 2024, 3:04 PM'
    """
    made = []
    for token in TOKEN.finditer(pattern):
        text = token[0]
        if token[1] is not None:
            made.append(token[1].replace("''", "'") or "'")
        elif not token[2]:
            made.append(text)
        elif text in WRITTEN:
            made.append(WRITTEN[text](when))
        elif set(text) == {"S"} and len(text) <= 9:
            made.append(f"{when.microsecond:06d}000"[: len(text)])
        else:
            raise FlowError(f"the reference engine does not know {text!r} in a date pattern")
    return "".join(made)


def truncate(unit: str, when: datetime) -> datetime | None:
    """A timestamp cut down to a unit; null for a unit there is none of."""
    name = SHORT.get(unit.lower(), unit.lower())
    if name in FLOOR_US:
        micros = micros_of(when)
        return moment(micros - micros % FLOOR_US[name])
    day = when.replace(hour=0, minute=0, second=0, microsecond=0)
    if name == "week":
        return day - timedelta(days=day.weekday())
    if name == "quarter":
        return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
    if name == "month":
        return day.replace(day=1)
    return day.replace(month=1, day=1) if name == "year" else None


def trunc_date(day: date, unit: str) -> date | None:
    """A date cut down to a unit of a week or more."""
    if SHORT.get(unit.lower(), unit.lower()) not in ("week", "quarter", "month", "year"):
        return None
    found = truncate(unit, datetime(day.year, day.month, day.day, tzinfo=UTC))
    return found.date() if found else None


def field(name: str) -> Rule:
    """One field of a timestamp or date."""
    call = FIELDS[name]
    kind = TIMESTAMP if name in ("hour", "minute", "second") else DATE
    return lambda args: strictly(INT, [cast(args[0], kind)], call)


FIELDS: dict[str, Callable[[Any], int]] = {
    "year": lambda t: t.year,
    "quarter": lambda t: (t.month - 1) // 3 + 1,
    "month": lambda t: t.month,
    "week": lambda t: t.isocalendar().week,
    "day": lambda t: t.day,
    "dayofweek": lambda t: t.isoweekday() % 7 + 1,
    "weekday": lambda t: t.weekday(),
    "dayofyear": lambda t: t.timetuple().tm_yday,
    "hour": lambda t: t.hour,
    "minute": lambda t: t.minute,
    "second": lambda t: t.second,
}
ALSO = {"weekofyear": "week", "dayofmonth": "day", "doy": "dayofyear", "dow": "dayofweek"}


def date_part(args: Sequence[Typed]) -> Typed:
    """A field by its name; seconds come with their fraction."""
    name = str(args[0].of({})).lower()
    name = ALSO.get(name, name.rstrip("s") if name.rstrip("s") in FIELDS else name)
    if name == "second":
        whole = [cast(args[1], TIMESTAMP)]
        seconds = decimal(8, 6)
        return cast(strictly(STRING, whole, lambda t: f"{t.second}.{t.microsecond:06d}"), seconds)
    if name not in FIELDS:
        raise FlowError(f"the reference engine does not know the field {name!r}")
    return field(name)(args[1:])


def since_1970(micros_each: int) -> Rule:
    """A timestamp as a whole number of units since 1970."""
    return lambda args: strictly(
        BIGINT, [cast(args[0], TIMESTAMP)], lambda when: micros_of(when) // micros_each
    )


def at_unit(micros_each: int) -> Rule:
    """A timestamp from a number of units since 1970."""

    def rule(args: Sequence[Typed]) -> Typed:
        if args[0].type.integral:
            call = lambda n: moment(in_range(n * micros_each, BIGINT))  # noqa: E731
            return strictly(TIMESTAMP, args, call)
        return strictly(TIMESTAMP, [cast(args[0], DOUBLE)], lambda n: moment(int(n * micros_each)))

    return rule


def whole_seconds(when: datetime) -> int:
    """Seconds since 1970 cut towards zero, where unix_seconds() rounds down."""
    micros = micros_of(when)
    return micros // 1_000_000 if micros >= 0 else -(-micros // 1_000_000)


def unix_timestamp(args: Sequence[Typed]) -> Typed:
    """Whole seconds since 1970 of a timestamp, a date, or a text in the default pattern."""
    if len(args) != 1 or args[0].type not in (TIMESTAMP, DATE, STRING):
        raise FlowError("the reference engine knows it for one timestamp, date or text")
    if args[0].type == STRING:
        plain = re.compile(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}")

        def read(text: str) -> int:
            if not plain.fullmatch(text):
                raise SqlFault(f"{text!r} is not written as yyyy-MM-dd HH:mm:ss")
            return micros_of(read_moment(text)) // 1_000_000

        return strictly(BIGINT, args, read)
    return strictly(BIGINT, [cast(args[0], TIMESTAMP)], whole_seconds)


def plain_only(kind: str, rule: Rule) -> Rule:
    """A reading of text without a pattern."""

    def checked(args: Sequence[Typed]) -> Typed:
        if len(args) != 1:
            raise FlowError(f"the reference engine reads a {kind} without a pattern only")
        return rule(args)

    return checked


def safely(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """A reading that gives null for what does not fit."""

    def call(text: str) -> Any:
        try:
            return read(text)
        except SqlFault:
            return None

    return call


def add_months(day: date, months: int) -> date:
    """A date so many months on, at most the last day of its month."""
    month = day.year * 12 + day.month - 1 + months
    year, month = divmod(month, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return date(year, month + 1, min(day.day, last))


def last_day(day: date) -> date:
    """The last day of a date's month."""
    return day.replace(day=calendar.monthrange(day.year, day.month)[1])


def make_date(year: int, month: int, day: int) -> date:
    """A date that must be in the calendar."""
    try:
        return date(year, month, day)
    except ValueError:
        raise SqlFault(f"there is no date {year}-{month}-{day}") from None


DATES: dict[str, Rule] = {
    **{name: field(name) for name in FIELDS if name != "week"},
    **{name: field(ALSO[name]) for name in ("weekofyear", "dayofmonth")},
    "date_part": date_part,
    "datepart": date_part,
    "date_trunc": strict("string, timestamp -> timestamp", truncate),
    "trunc": strict("date, string -> date", trunc_date),
    "date_format": strict("timestamp, string -> string", written),
    "to_timestamp": plain_only("timestamp", lambda args: cast(args[0], TIMESTAMP)),
    "to_date": plain_only("date", lambda args: cast(args[0], DATE)),
    "timestamp": plain_only("timestamp", lambda args: cast(args[0], TIMESTAMP)),
    "date": plain_only("date", lambda args: cast(args[0], DATE)),
    "try_to_timestamp": strict("string -> timestamp", safely(read_moment)),
    "try_to_date": strict("string -> date", safely(read_date)),
    "unix_timestamp": unix_timestamp,
    "to_unix_timestamp": unix_timestamp,
    "unix_seconds": since_1970(1_000_000),
    "unix_millis": since_1970(1_000),
    "unix_micros": since_1970(1),
    "timestamp_seconds": at_unit(1_000_000),
    "timestamp_millis": at_unit(1_000),
    "timestamp_micros": at_unit(1),
    "unix_date": strict("date -> int", lambda day: (day - date(1970, 1, 1)).days),
    "date_add": strict("date, int -> date", shift_days),
    "dateadd": strict("date, int -> date", shift_days),
    "date_sub": strict("date, int -> date", lambda day, n: shift_days(day, -n)),
    "datediff": strict("date, date -> int", lambda end, start: (end - start).days),
    "date_diff": strict("date, date -> int", lambda end, start: (end - start).days),
    "add_months": strict("date, int -> date", add_months),
    "last_day": strict("date -> date", last_day),
    "from_unixtime": strict(
        "bigint, [string] -> string",
        lambda seconds, pattern="yyyy-MM-dd HH:mm:ss": written(
            moment(seconds * 1_000_000), pattern
        ),
    ),
    "make_date": strict("int, int, int -> date", make_date),
}
