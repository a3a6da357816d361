"""Several inputs as one sequence in order of progress (paper 5, section 3.2.3, algorithm 1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from headway.errors import RunError

Part = TypeVar("Part")


def merged(
    inputs: Mapping[str, Iterable[tuple[int, Part]]],
) -> Iterator[tuple[int, dict[str, Part]]]:
    """The parts of all inputs that have the same progress together, the smallest progress first.

    An input that has nothing at a point is passed over there; one that goes back in progress
    would mix points, and is refused.

    >>> list(merged({"a": [(0, "x"), (2, "y")], "b": [(2, "z")]}))
    [(0, {'a': 'x'}), (2, {'a': 'y', 'b': 'z'})]
    """
    queues = {name: iter(parts) for name, parts in inputs.items()}
    heads = {name: head for name, queue in queues.items() if (head := next(queue, None))}
    while heads:
        point = min(at for at, _ in heads.values())
        together = {name: part for name, (at, part) in heads.items() if at == point}
        yield point, together
        for name in together:
            head = next(queues[name], None)
            if head is None:
                del heads[name]
            elif head[0] <= point:
                raise RunError(
                    f"{name} went from point {point} back to {head[0]}: an input brings each point "
                    "once, in order of progress"
                )
            else:
                heads[name] = head
