"""Java's regular expressions on Python's engine: translated where the two differ."""

from __future__ import annotations

import re
from functools import lru_cache

from headway.engine.reference.sql.types import SqlFault
from headway.errors import FlowError

CLASSES = {
    "Alpha": "a-zA-Z", "L": r"^\W\d_", "Digit": "0-9", "Alnum": "a-zA-Z0-9", "Upper": "A-Z",
    "Lower": "a-z", "Punct": r"!-/:-@\[-`{-~", "Space": r"\s", "Blank": r" \t",
    "XDigit": "0-9a-fA-F", "ASCII": r"\x00-\x7f",
}  # fmt: skip
DOT = r"[^\n\r\u0085\u2028\u2029]"


@lru_cache(maxsize=512)
def compile_regex(pattern: str) -> re.Pattern[str]:
    """A Java pattern, compiled; what Python cannot express is refused by name."""
    try:
        return re.compile(translate(pattern), re.ASCII)
    except re.error as error:
        raise FlowError(f"the regular expression {pattern!r} does not compile: {error}") from None


def translate(pattern: str) -> str:
    """A Java pattern in Python's spelling.

    >>> translate(r"(?<word>\\p{Alpha}+)\\Q.\\E")
    '(?P<word>[a-zA-Z]+)\\\\.'
    """
    made: list[str] = []
    place, bracket = 0, 0
    while place < len(pattern):
        char = pattern[place]
        if char == "\\":
            text, place = translate_escape(pattern, place, inside=bracket > 0)
            made.append(text)
            continue
        if pattern.startswith("(?<", place) and pattern[place + 3 : place + 4] not in ("=", "!"):
            made.append("(?P<")
            place += 3
            continue
        if bracket and (char == "[" or pattern.startswith("&&", place)):
            raise FlowError(
                f"the regular expression {pattern!r} combines classes, which the reference engine "
                "does not know; write one class"
            )
        bracket += (char == "[") - (char == "]" and bracket > 0)
        made.append(DOT if char == "." and not bracket else char)
        place += 1
    return "".join(made)


def translate_escape(pattern: str, place: int, inside: bool) -> tuple[str, int]:
    """One escape in Python's spelling, and the place after it."""
    code = pattern[place + 1 : place + 2]
    if code == "Q":
        end = pattern.find("\\E", place)
        quoted = pattern[place + 2 : end if end >= 0 else len(pattern)]
        return re.escape(quoted), end + 2 if end >= 0 else len(pattern)
    if code in ("p", "P"):
        found = re.compile(r"\{(?:Is)?(\w+)\}").match(pattern, place + 2)
        name = found[1] if found else ""
        if name not in CLASSES or (inside and (code == "P" or CLASSES[name].startswith("^"))):
            raise FlowError(f"the reference engine does not know the class in {pattern!r}")
        if inside:
            return CLASSES[name], found.end() if found else place
        chosen = CLASSES[name]
        unicode_letters = chosen.startswith("^")
        chosen = chosen.removeprefix("^")
        negated = (code == "P") != unicode_letters
        letters = f"(?u:[{'^' if negated else ''}{chosen}])" if unicode_letters else (
            f"[{'^' if negated else ''}{chosen}]"
        )  # fmt: skip
        return letters, found.end() if found else place
    if code == "h":
        return (r" \t\xa0" if inside else r"[ \t\xa0]"), place + 2
    if code in ("b", "B") and not inside:
        return rf"(?u:\{code})", place + 2  # unlike \w, Java's word borders know all letters
    if code == "R":
        return r"(?:\r\n|[\n\r\v\f])", place + 2
    if code in ("z", "Z"):
        return (r"\Z" if code == "z" else r"(?=\n?\Z)"), place + 2
    return pattern[place : place + 2], place + 2


def split(text: str, pattern: str, limit: int = -1) -> list[str]:
    """The pieces of a text between matches; empty ones at the end are kept unless limit is 0.

    >>> split("a,b,,", ","), split("abc", "")
    (['a', 'b', '', ''], ['a', 'b', 'c'])
    """
    if not pattern:
        return split_characters(text, limit)
    pieces: list[str] = []
    start = 0
    for found in compile_regex(pattern).finditer(text):
        if 0 < limit <= len(pieces) + 1:
            break
        if found.end() == 0:
            continue  # a match of no width at the start cuts nothing off
        pieces.append(text[start : found.start()])
        start = found.end()
    return [*pieces, text[start:]]


def split_characters(text: str, limit: int) -> list[str]:
    """The characters of a text, the last piece being the rest when there is a limit."""
    if not text or limit <= 0 or limit >= len(text):
        return list(text) or [""]
    return [*text[: limit - 1], text[limit - 1 :]]


def replace(text: str, pattern: str, substitute: str, start: int = 1) -> str:
    """A text with each match replaced; ``$1`` in the substitute is what group 1 matched."""
    if start < 1:
        raise SqlFault(f"regexp_replace wants a position of 1 or more; got {start}")
    regex = compile_regex(pattern)
    made, last = [text[: start - 1]], start - 1
    for found in regex.finditer(text, start - 1):
        made += [text[last : found.start()], expand(substitute, found)]
        last = found.end()
    return "".join([*made, text[last:]])


def expand(substitute: str, found: re.Match[str]) -> str:
    """A Java substitute with its groups filled in."""

    def fill(part: re.Match[str]) -> str:
        if part[1] is not None:
            return str(part[1])
        group: int | str = int(part[2]) if part[2] else part[3] or "$"
        try:
            return found.group(group) or ""
        except IndexError:
            raise SqlFault(
                f"the substitute {substitute!r} names a group that is not there"
            ) from None

    return re.sub(r"\\(.)|\$(?:(\d)|\{(\w+)\}|())", fill, substitute)


def extract(text: str, pattern: str, group: int = 1) -> str:
    """What a group of the first match holds; empty text where nothing matches."""
    found = compile_regex(pattern).search(text)
    check_group(pattern, group)
    return (found.group(group) or "") if found else ""


def extract_all(text: str, pattern: str, group: int = 1) -> list[str]:
    """What a group of each match holds."""
    check_group(pattern, group)
    return [found.group(group) or "" for found in compile_regex(pattern).finditer(text)]


def check_group(pattern: str, group: int) -> None:
    """Refuse a group that the pattern does not have."""
    if not 0 <= group <= compile_regex(pattern).groups:
        raise SqlFault(f"the regular expression {pattern!r} has no group {group}")
