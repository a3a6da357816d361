"""Rows made out of columns are the rows that Arrow would make."""

from __future__ import annotations

import pyarrow as pa
import pytest

from headway.engine.pairs.columns import to_rows

BATCH = pa.RecordBatch.from_pydict(
    {"plain": [1, 2], 'it\'s "odd" {x}\\': ["a", None], "nested": [[1], []], "n": [1.5, None]}
)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_rows_equal_what_arrow_makes(count: int) -> None:
    names = BATCH.schema.names[:count]
    assert to_rows(BATCH, names) == BATCH.select(names).to_pylist()


def test_rows_without_columns_are_dicts_of_their_own() -> None:
    first, second = to_rows(BATCH, [])
    first["mark"] = 1
    assert second == {}
