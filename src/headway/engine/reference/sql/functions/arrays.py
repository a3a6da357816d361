"""Functions of arrays and structs; items of arrays in brackets count from 0, element_at from 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from headway.engine.reference.sql.order import identity, rank
from headway.engine.reference.sql.typed import Rule, Scope, Typed, cast, meeting, strictly
from headway.engine.reference.sql.types import (
    BIGINT,
    BOOLEAN,
    INT,
    STRING,
    VOID,
    SqlFault,
    Type,
    array_of,
    meet,
)
from headway.errors import FlowError


def items_type(arg: Typed) -> Type:
    """The type of an array's items."""
    if arg.type.kind != "array":
        raise FlowError(f"wants an array; got {arg.type}")
    return arg.type.inner[0]


def make_array(args: Sequence[Typed]) -> Typed:
    """An array of the values given, in the type where they meet."""
    items = meeting(args, "array") if args else []
    kind = array_of(items[0].type if items else VOID)
    return Typed(kind, lambda scope: [item.of(scope) for item in items])


def make_struct(args: Sequence[Typed]) -> Typed:
    """named_struct(name, value, ...)."""
    names = [arg.of({}) for arg in args[::2]]
    values = args[1::2]
    kind = Type("struct", tuple(value.type for value in values), tuple(names))
    return Typed(
        kind, lambda s: {name: value.of(s) for name, value in zip(names, values, strict=True)}
    )


def access_field(arg: Typed, name: str) -> Typed:
    """A field of a struct, or of each struct in an array."""
    if arg.type.kind == "array":
        inner = access_field(Typed(arg.type.inner[0], lambda scope: scope["item"]), name)
        return strictly(
            array_of(inner.type),
            [arg],
            lambda items: [inner.of({"item": item}) for item in items],
        )
    fits = [field for field in arg.type.names if field.lower() == name.lower()]
    if arg.type.kind != "struct" or not fits:
        raise FlowError(f"{arg.type} has no field {name!r}")
    kind = arg.type.inner[arg.type.names.index(fits[0])]
    return strictly(kind, [arg], lambda value: value[fits[0]])


def access_item(arg: Typed, place: Typed) -> Typed:
    """An item in brackets, counted from 0, or a field by its name."""
    if arg.type.kind == "struct":
        return access_field(arg, place.of({}))
    return strictly(items_type(arg), [arg, cast(place, INT)], lambda items, at: pick(items, at))


def pick(items: list[Any], at: int) -> Any:
    """An item that must be there."""
    if not 0 <= at < len(items):
        raise SqlFault(
            f"an array of {len(items)} has no item {at}; use get(array, index) to get NULL instead"
        )
    return items[at]


def element_at(args: Sequence[Typed], safe: bool = False) -> Typed:
    """An item counted from 1, or from the end where negative."""
    array, place = args

    def at(items: list[Any], position: int) -> Any:
        if position == 0:
            raise SqlFault("element_at counts from 1, or from -1 at the end; got 0")
        inside = abs(position) <= len(items)
        if safe and not inside:
            return None
        return pick(items, position - 1 if position > 0 else len(items) + position)

    return strictly(items_type(array), [array, cast(place, INT)], at)


def get(args: Sequence[Typed]) -> Typed:
    """An item counted from 0, null where there is none."""
    array, place = args
    return strictly(
        items_type(array),
        [array, cast(place, INT)],
        lambda items, at: items[at] if 0 <= at < len(items) else None,
    )


def of_array(result: Type | None, call: Callable[..., Any], *rest: Type) -> Rule:
    """A function of an array whose result is of a given type, or (None) of the array's own."""

    def rule(args: Sequence[Typed]) -> Typed:
        items_type(args[0])
        others = [cast(arg, kind) for arg, kind in zip(args[1:], rest, strict=False)]
        return strictly(result or args[0].type, [args[0], *others], call)

    return rule


def of_items(call: Callable[[list[Any]], Any]) -> Rule:
    """A function of an array that gives one of its items."""
    return lambda args: strictly(items_type(args[0]), args, call)


def with_item(result: Type | None, call: Callable[[list[Any], Any], Any]) -> Rule:
    """A function of an array and something that is to be compared with its items."""

    def rule(args: Sequence[Typed]) -> Typed:
        kind = meet(items_type(args[0]), args[1].type)
        if kind is None:
            raise FlowError(f"cannot compare {args[0].type} with {args[1].type}")
        array, item = cast(args[0], array_of(kind)), cast(args[1], kind)
        return strictly(result or array.type, [array, item], call)

    return rule


def two_arrays(result: Type | None, call: Callable[[list[Any], list[Any]], Any]) -> Rule:
    """A function of two arrays of like items."""

    def rule(args: Sequence[Typed]) -> Typed:
        left, right = meeting(args, "arrays")
        items_type(left)
        return strictly(result or left.type, [left, right], call)

    return rule


def contains(items: list[Any], sought: Any) -> bool | None:
    """Whether an item is there; unknown where a null could have been it."""
    if any(item is not None and rank(item) == rank(sought) for item in items):
        return True
    return None if None in items else False


def keep_first(items: list[Any]) -> list[Any]:
    """The items without repeats, in the order of their first places."""
    seen: dict[Any, Any] = {}
    for item in items:
        seen.setdefault(identity(item), item)
    return list(seen.values())


def sort_array(items: list[Any], ascending: bool = True) -> list[Any]:
    """Items in order, nulls first, or last when the order is turned."""
    return sorted(items, key=rank, reverse=not ascending)


def nulls_last(items: list[Any]) -> list[Any]:
    """Items in order, nulls last."""
    return sorted((x for x in items if x is not None), key=rank) + [x for x in items if x is None]


def flatten(args: Sequence[Typed]) -> Typed:
    """The items of the arrays in an array; null if one of these is."""
    inner = items_type(args[0])

    def of(items: list[Any]) -> list[Any] | None:
        return None if None in items else [item for array in items for item in array]

    return strictly(inner, args, of)


def extreme(pick_one: Callable[..., Any]) -> Callable[[list[Any]], Any]:
    """The largest or least item that is not null."""

    def of(items: list[Any]) -> Any:
        found = [item for item in items if item is not None]
        return pick_one(found, key=rank) if found else None

    return of


def join(items: list[Any], mark: str, filler: str | None = None) -> str:
    """Items as one text; nulls are left out, or replaced."""
    texts = [filler if item is None else item for item in items]
    return mark.join(text for text in texts if text is not None)


def join_rule(args: Sequence[Typed]) -> Typed:
    """array_join(array, mark, filler)."""
    texts = [cast(args[0], array_of(STRING)), *(cast(arg, STRING) for arg in args[1:])]
    return strictly(STRING, texts, join)


def cut(items: list[Any], start: int, length: int) -> list[Any]:
    """A part of an array, from a place that counts from 1, or from the end where negative."""
    if start == 0 or length < 0:
        raise SqlFault(f"slice wants a start other than 0 and a length >= 0; got {start}, {length}")
    begin = start - 1 if start > 0 else len(items) + start
    return items[begin : begin + length] if begin >= 0 else []


def sequence(args: Sequence[Typed]) -> Typed:
    """Whole numbers from one to another."""
    numbers = meeting(args, "sequence")
    if not numbers[0].type.integral:
        raise FlowError("the reference engine knows it for whole numbers only")
    return strictly(array_of(numbers[0].type), numbers, count_up)


def count_up(start: int, stop: int, step: int | None = None) -> list[int]:
    """Whole numbers from start to stop, both included."""
    step = step if step is not None else 1 if start <= stop else -1
    if step == 0 or (step > 0) != (stop >= start):
        if start == stop:
            return [start]
        raise SqlFault(f"sequence cannot go from {start} to {stop} by {step}")
    return list(range(start, stop + (1 if step > 0 else -1), step))


def position(items: list[Any], sought: Any) -> int:
    """Where an item first stands, from 1; 0 where it does not."""
    places = (
        n for n, item in enumerate(items, 1) if item is not None and rank(item) == rank(sought)
    )
    return next(places, 0)


def overlap(left: list[Any], right: list[Any]) -> bool | None:
    """Whether two arrays share an item; unknown where only a null could be shared."""
    known = {identity(item) for item in left if item is not None}
    if any(identity(item) in known for item in right if item is not None):
        return True
    return None if left and right and (None in left or None in right) else False


def within(left: list[Any], right: list[Any]) -> list[Any]:
    """The items of both arrays, once each."""
    known = {identity(item) for item in right}
    return keep_first([item for item in left if identity(item) in known])


def without(left: list[Any], right: list[Any]) -> list[Any]:
    """The items of the first array that the second lacks, once each."""
    known = {identity(item) for item in right}
    return keep_first([item for item in left if identity(item) not in known])


def with_null_item(args: Sequence[Typed], at_end: bool) -> Typed:
    """An array with one item more, which may be null."""
    kind = meet(items_type(args[0]), args[1].type)
    if kind is None:
        raise FlowError(f"cannot put {args[1].type} into {args[0].type}")
    array, item = cast(args[0], array_of(kind)), cast(args[1], kind)

    def of(scope: Scope) -> list[Any] | None:
        items = array.of(scope)
        one = [item.of(scope)]
        return None if items is None else items + one if at_end else one + items

    return Typed(array.type, of)


def repeat(item: Typed, count: Typed) -> Typed:
    """An array of one value several times; the value may be null."""

    def of(scope: Scope) -> list[Any] | None:
        times = count.of(scope)
        return None if times is None else [item.of(scope)] * times

    return Typed(array_of(item.type), of)


def size(args: Sequence[Typed]) -> Typed:
    """How many items there are; null for null."""
    if args[0].type.kind not in ("array", "map"):
        raise FlowError(f"wants an array; got {args[0].type}")
    return strictly(INT, args, len)


ARRAYS: dict[str, Rule] = {
    "array": make_array,
    "named_struct": make_struct,
    "size": size,
    "cardinality": size,
    "array_size": size,
    "element_at": element_at,
    "try_element_at": lambda args: element_at(args, safe=True),
    "get": get,
    "array_contains": with_item(BOOLEAN, contains),
    "array_position": with_item(BIGINT, position),
    "array_remove": with_item(
        None, lambda items, gone: [x for x in items if x is None or rank(x) != rank(gone)]
    ),
    "array_append": lambda args: with_null_item(args, at_end=True),
    "array_prepend": lambda args: with_null_item(args, at_end=False),
    "array_distinct": of_array(None, keep_first),
    "array_max": of_items(extreme(max)),
    "array_min": of_items(extreme(min)),
    "array_compact": of_array(None, lambda items: [x for x in items if x is not None]),
    "array_union": two_arrays(None, lambda left, right: keep_first(left + right)),
    "array_intersect": two_arrays(None, within),
    "array_except": two_arrays(None, without),
    "arrays_overlap": two_arrays(BOOLEAN, overlap),
    "array_join": join_rule,
    "sort_array": of_array(None, sort_array, BOOLEAN),
    "array_sort": of_array(None, nulls_last),
    "slice": of_array(None, cut, INT, INT),
    "flatten": flatten,
    "sequence": sequence,
    "array_repeat": lambda args: repeat(args[0], cast(args[1], INT)),
}
