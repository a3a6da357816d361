"""Functions that read a text with a grammar of its own: addresses and JSON."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import unquote_plus

from headway.engine.reference.sql.typed import Rule, strict
from headway.engine.reference.sql.types import SqlFault

ADDRESS = re.compile(
    r"(?:(?P<PROTOCOL>[A-Za-z][A-Za-z0-9+.-]*):)?(?://(?P<AUTHORITY>[^/?#]*))?"
    r"(?P<PATH>[^?#]*)(?:\?(?P<QUERY>[^#]*))?(?:#(?P<REF>.*))?"
)
LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
SERVER = re.compile(
    rf"(?:(?P<USERINFO>[^@]*)@)?(?P<HOST>(?:{LABEL}\.)*(?=[A-Za-z]){LABEL}\.?"
    r"|\d+\.\d+\.\d+\.\d+|\[[0-9A-Fa-f:.]+\])(?::\d*)?"
)
NOT_IN_AN_ADDRESS = re.compile(r"[\s<>\"{}|\\^`]|%(?![0-9A-Fa-f]{2})")
PATH_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\['([^']*)'\]|\.?(\[\*\]|\.\*)")


def parse_url(address: str, part: str, key: str | None = None) -> str | None:
    """One part of an address; null where it has none.

    >>> parse_url("https://example.org/a/b?x=1#top", "HOST")
    'example.org'
    """
    found = ADDRESS.fullmatch(address)
    if not found or NOT_IN_AN_ADDRESS.search(address):
        raise SqlFault(f"{address!r} is not an address; use try_parse_url to get NULL instead")
    if part in ("HOST", "USERINFO"):
        server = SERVER.fullmatch(found["AUTHORITY"] or "")
        return server[part] if server else None
    opaque = found["PROTOCOL"] and found["AUTHORITY"] is None and not found["PATH"].startswith("/")
    if opaque and part in ("FILE", "PATH", "QUERY"):
        return None
    query = found["QUERY"]
    if part == "FILE":
        return found["PATH"] + (f"?{query}" if query is not None else "")
    if part == "QUERY" and key is not None:
        values = re.search(rf"(?:^|&){re.escape(key)}=([^&]*)", query or "")
        return values[1] if values else None
    return found[part] if part in found.groupdict() else None


def try_parse_url(address: str, part: str, key: str | None = None) -> str | None:
    """One part of an address; null where there is no address either."""
    try:
        return parse_url(address, part, key)
    except SqlFault:
        return None


def first_of_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON in which the first of equal names counts, as Spark finds it."""
    made: dict[str, Any] = {}
    for name, value in pairs:
        made.setdefault(name, value)
    return made


def no_constant(name: str) -> Any:
    """Refuse NaN and Infinity, which are not JSON."""
    raise ValueError(name)


JSON = json.JSONDecoder(object_pairs_hook=first_of_each, parse_constant=no_constant)


def get_json_object(text: str, path: str) -> str | None:
    """What a path such as ``$.user.tags[0]`` finds in a JSON text, as text; null for nothing."""
    steps = list(PATH_STEP.finditer(path, 1))
    if not path.startswith("$") or "".join(step[0] for step in steps) != path[1:]:
        return None
    if any(step[4] for step in steps):
        raise SqlFault(f"the reference engine does not know the wildcard in path {path!r}")
    try:
        value, _ = JSON.raw_decode(text.lstrip())
    except ValueError:
        if "'" in text:
            raise SqlFault(
                f"the reference engine does not read JSON in single quotes: {text!r}"
            ) from None
        return None
    if value is None and not steps:
        return "null"
    for step in steps:
        value = follow(value, step)
    return write_json(value)


def follow(value: Any, step: re.Match[str]) -> Any:
    """What one step of a path finds."""
    if step[2] is not None:
        at = int(step[2])
        return value[at] if isinstance(value, list) and at < len(value) else None
    name = step[1] if step[1] is not None else step[3]
    return value.get(name) if isinstance(value, dict) else None


def write_json(value: Any) -> str | None:
    """A JSON value as text: a string bare, the rest as JSON."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def json_array_length(text: str) -> int | None:
    """How many items a JSON array has; null for what is no array."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return len(value) if isinstance(value, list) else None


PARSED: dict[str, Rule] = {
    "parse_url": strict("string, string, [string] -> string", parse_url),
    "try_parse_url": strict("string, string, [string] -> string", try_parse_url),
    "url_decode": strict("string -> string", unquote_plus),
    "get_json_object": strict("string, string -> string", get_json_object),
    "json_array_length": strict("string -> int", json_array_length),
}
