"""Functions of text; positions count characters from 1, and only blanks are trimmed."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from headway.engine.reference.sql.functions import regexes
from headway.engine.reference.sql.typed import Rule, Scope, Typed, cast, meeting, strict, strictly
from headway.engine.reference.sql.types import BINARY, BOOLEAN, INT, STRING, SqlFault, array_of
from headway.errors import FlowError

Matcher = Callable[[str, str], bool]
TRIM_SIDES = {"BOTH": "lr", "LEADING": "l", "TRAILING": "r"}


@lru_cache(maxsize=512)
def like_regex(pattern: str, escape: str, ignore_case: bool) -> re.Pattern[str]:
    """A LIKE pattern as a regular expression."""
    made, place = [], 0
    while place < len(pattern):
        char = pattern[place]
        if char == escape:
            place += 1
            if place == len(pattern) or pattern[place] not in ("%", "_", escape):
                raise SqlFault(f"the pattern {pattern!r} escapes something other than % and _")
            made.append(re.escape(pattern[place]))
        else:
            made.append({"%": ".*", "_": "."}.get(char, re.escape(char)))
        place += 1
    return re.compile("".join(made), re.DOTALL | (re.IGNORECASE if ignore_case else re.NOFLAG))


def like(escape: str, ignore_case: bool = False) -> Matcher:
    """The test whether a text fits a LIKE pattern."""
    return lambda text, pattern: bool(like_regex(pattern, escape, ignore_case).fullmatch(text))


MATCHERS: dict[str, Callable[[str], Matcher]] = {
    "Like": like,
    "ILike": lambda escape: like(escape, ignore_case=True),
    "RegexpLike": lambda _: lambda text, pattern: bool(regexes.compile_regex(pattern).search(text)),
}


def trimmer(sides: str) -> Callable[..., str]:
    """A trim of the left, right or both ends, of blanks or of the characters given."""

    def trim(text: str, characters: str = " ") -> str:
        text = text.lstrip(characters) if "l" in sides and characters else text
        return text.rstrip(characters) if "r" in sides and characters else text

    return trim


def trim_rule(sides: str) -> Rule:
    """trim(text), or ltrim(characters, text) as Spark orders it."""

    def rule(args: Sequence[Typed]) -> Typed:
        texts = [cast(arg, STRING) for arg in args]
        return strictly(STRING, texts[::-1], trimmer(sides))

    return rule


def substring(text: Any, start: int, length: int | None = None) -> Any:
    """A part of a text or of bytes by its place; a negative place counts from the end."""
    begin = start - 1 if start > 0 else len(text) + start if start < 0 else 0
    end = len(text) if length is None else begin + length
    return text[max(begin, 0) : max(end, 0)]


def substring_rule(args: Sequence[Typed]) -> Typed:
    """substring of text or binary."""
    kind = BINARY if args[0].type == BINARY else STRING
    numbers = [cast(arg, INT) for arg in args[1:]]
    return strictly(kind, [cast(args[0], kind), *numbers], substring)


def pad(text: str, length: int, filler: str, left: bool) -> str:
    """A text brought to a length, filled up or cut."""
    length = max(length, 0)
    missing = length - len(text)
    if missing <= 0 or not filler:
        return text[:length]
    fill = (filler * (missing // len(filler) + 1))[:missing]
    return fill + text if left else text + fill


def locate(sought: str, text: str, start: int = 1) -> int:
    """Where a text first occurs, from 1; 0 where it does not."""
    return text.find(sought, start - 1) + 1 if start >= 1 else 0


def initcap(text: str) -> str:
    """Each word, as blanks divide them, with a capital and the rest small."""

    def capital(word: str) -> str:
        # The whole word is made small at once: a sigma at its end has a form of its own.
        return word[:1].title() + word.lower()[len(word[:1].lower()) :]

    return " ".join(capital(word) for word in text.split(" "))


def translate(text: str, old: str, new: str) -> str:
    """A text with characters exchanged one by one; those without a partner are dropped."""
    table: dict[int, str | None] = {}
    for place, char in enumerate(old):
        table.setdefault(ord(char), new[place] if place < len(new) else None)
    return text.translate(table)


def substring_index(text: str, mark: str, count: int) -> str:
    """What stands before the count-th mark, or after it counted from the end."""
    if not mark or count == 0:
        return ""
    parts = text.split(mark)
    return mark.join(parts[:count] if count > 0 else parts[count:])


def split_part(text: str, mark: str, place: int) -> str:
    """One part of a text between marks."""
    if place == 0:
        raise SqlFault("split_part counts from 1; got 0")
    parts = text.split(mark) if mark else [text]
    inside = -len(parts) <= place <= len(parts)
    return parts[place - 1 if place > 0 else place] if inside else ""


def concat(args: Sequence[Typed]) -> Typed:
    """Text, bytes or arrays end to end; null if one of them is."""
    if args and all(arg.type.kind in ("array", "void") for arg in args):
        among = meeting(args, "concat")
        return strictly(among[0].type, among, lambda *parts: [x for part in parts for x in part])
    if args and all(arg.type == BINARY for arg in args):
        return strictly(BINARY, args, lambda *parts: b"".join(parts))
    return strictly(STRING, [cast(arg, STRING) for arg in args], lambda *parts: "".join(parts))


def concat_ws(args: Sequence[Typed]) -> Typed:
    """Text, and the items of arrays, joined by the first argument; nulls are left out."""
    mark, *rest = args
    parts = [
        arg if arg.type == array_of(STRING)
        else cast(arg, array_of(STRING) if arg.type.kind == "array" else STRING)
        for arg in rest
    ]  # fmt: skip

    def of(scope: Scope) -> str | None:
        between = mark.of(scope)
        found = [part.of(scope) for part in parts]
        items = [x for one in found for x in (one if isinstance(one, list) else [one])]
        return None if between is None else between.join(x for x in items if x is not None)

    return Typed(STRING, of)


def split_rule(args: Sequence[Typed]) -> Typed:
    """split(text, regex, limit)."""
    texts = [cast(arg, STRING) for arg in args[:2]]
    return strictly(
        array_of(STRING), [*texts, *(cast(arg, INT) for arg in args[2:])], regexes.split
    )


def extract_all_rule(args: Sequence[Typed]) -> Typed:
    """regexp_extract_all(text, regex, group)."""
    texts = [cast(arg, STRING) for arg in args[:2]]
    numbers = [cast(arg, INT) for arg in args[2:]]
    return strictly(array_of(STRING), [*texts, *numbers], regexes.extract_all)


def measure(of_text: Callable[[str], int], of_bytes: Callable[[bytes], int]) -> Rule:
    """A length of text or of bytes."""

    def rule(args: Sequence[Typed]) -> Typed:
        if args[0].type == BINARY:
            return strictly(INT, args, of_bytes)
        return strictly(INT, [cast(args[0], STRING)], of_text)

    return rule


def reverse(args: Sequence[Typed]) -> Typed:
    """A text or an array from its end to its start."""
    if args[0].type.kind == "array":
        return strictly(args[0].type, args, lambda items: items[::-1])
    return strictly(STRING, [cast(args[0], STRING)], lambda text: text[::-1])


def like_function(name: str) -> Rule:
    """like(text, pattern) and its kin, as functions."""

    def rule(args: Sequence[Typed]) -> Typed:
        if len(args) != 2:
            raise FlowError("wants a text and a pattern")
        return strictly(BOOLEAN, [cast(arg, STRING) for arg in args], MATCHERS[name]("\\"))

    return rule


TEXTS: dict[str, Rule] = {
    "lower": strict("string -> string", str.lower),
    "lcase": strict("string -> string", str.lower),
    "upper": strict("string -> string", str.upper),
    "ucase": strict("string -> string", str.upper),
    "initcap": strict("string -> string", initcap),
    "trim": trim_rule("lr"),
    "btrim": strict("string, [string] -> string", trimmer("lr")),
    "ltrim": trim_rule("l"),
    "rtrim": trim_rule("r"),
    "length": measure(len, len),
    "len": measure(len, len),
    "char_length": measure(len, len),
    "character_length": measure(len, len),
    "octet_length": measure(lambda text: len(text.encode()), len),
    "bit_length": measure(lambda text: 8 * len(text.encode()), lambda data: 8 * len(data)),
    "substr": substring_rule,
    "substring": substring_rule,
    "left": strict("string, int -> string", lambda text, n: text[: max(n, 0)]),
    "right": strict("string, int -> string", lambda text, n: text[-n:] if n > 0 else ""),
    "concat": concat,
    "concat_ws": concat_ws,
    "replace": strict(
        "string, string, [string] -> string",
        lambda text, old, new="": text.replace(old, new) if old else text,
    ),
    "regexp_replace": strict("string, string, string, [int] -> string", regexes.replace),
    "regexp_extract": strict("string, string, [int] -> string", regexes.extract),
    "regexp_extract_all": extract_all_rule,
    "regexp_count": strict(
        "string, string -> int", lambda text, regex: len(regexes.extract_all(text, regex, 0))
    ),
    "regexp_like": like_function("RegexpLike"),
    "rlike": like_function("RegexpLike"),
    "regexp": like_function("RegexpLike"),
    "like": like_function("Like"),
    "ilike": like_function("ILike"),
    "instr": strict("string, string -> int", lambda text, sought: locate(sought, text)),
    "locate": strict("string, string, [int] -> int", locate),
    "position": strict("string, string, [int] -> int", locate),
    "charindex": strict("string, string, [int] -> int", locate),
    "lpad": strict(
        "string, int, [string] -> string", lambda text, n, fill=" ": pad(text, n, fill, left=True)
    ),
    "rpad": strict(
        "string, int, [string] -> string", lambda text, n, fill=" ": pad(text, n, fill, left=False)
    ),
    "startswith": strict("string, string -> boolean", str.startswith),
    "endswith": strict("string, string -> boolean", str.endswith),
    "contains": strict("string, string -> boolean", str.__contains__),
    "reverse": reverse,
    "repeat": strict("string, int -> string", lambda text, n: text * max(n, 0)),
    "space": strict("int -> string", lambda n: " " * max(n, 0)),
    "translate": strict("string, string, string -> string", translate),
    "substring_index": strict("string, string, int -> string", substring_index),
    "split": split_rule,
    "split_part": strict("string, string, int -> string", split_part),
    "ascii": strict("string -> int", lambda text: ord(text[0]) if text else 0),
    "chr": strict("bigint -> string", lambda n: "" if n < 0 else chr(n % 256)),
    "char": strict("bigint -> string", lambda n: "" if n < 0 else chr(n % 256)),
    "base64": strict("binary -> string", lambda data: base64.b64encode(data).decode()),
    "levenshtein": strict("string, string -> int", lambda a, b: edits(a, b)),
}


def edits(left: str, right: str) -> int:
    """How many single-character changes turn one text into the other."""
    row = list(range(len(right) + 1))
    for i, one in enumerate(left, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(right, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (one != other))
    return row[-1]
