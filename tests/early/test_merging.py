"""Several inputs as one sequence in order of progress: no point is mixed with another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.early.merging import merged
from headway.errors import RunError

INPUTS = st.dictionaries(st.sampled_from("abc"), st.sets(st.integers(0, 9)).map(sorted))


@given(INPUTS)
def test_every_part_comes_once_with_those_of_its_point_and_in_order(
    inputs: dict[str, list[int]],
) -> None:
    queues = {
        name: [(point, f"{name}{point}") for point in points] for name, points in inputs.items()
    }
    found = list(merged(queues))
    points = [point for point, _ in found]
    assert points == sorted({point for has in inputs.values() for point in has})
    for point, together in found:
        assert together == {name: f"{name}{point}" for name, has in inputs.items() if point in has}


def test_an_input_is_read_no_further_than_its_next_point() -> None:
    read: list[int] = []

    def slow() -> object:
        for point in range(5):
            read.append(point)
            yield point, "x"

    sequence = merged({"slow": slow(), "fast": [(0, "y")]})  # type: ignore[dict-item]
    assert next(sequence)[0] == 0
    assert read == [0]


def test_an_input_that_goes_back_is_refused() -> None:
    with pytest.raises(RunError, match="a went from point 2 back to 1"):
        list(merged({"a": [(0, "x"), (2, "y"), (1, "z")]}))
