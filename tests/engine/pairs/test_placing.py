"""Equal keys share a bucket, whoever asks and whatever way the key came."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from headway.engine.pairs.placing import BucketOf, buckets_of

ASK = "from headway.engine.pairs.placing import BucketOf; print(BucketOf(1000)[{key!r}])"


@pytest.mark.parametrize(
    "equal", [(1, 1.0, True, Decimal(1)), (0.0, -0.0), ((1, "a"), (1.0, "a"))], ids=str
)
def test_keys_that_python_holds_equal_have_one_bucket(equal: tuple[Any, ...]) -> None:
    assert len({BucketOf(1_000)[key] for key in equal}) == 1


@pytest.mark.parametrize("key", ["ü", 7, 2.5, ("a", 1), b"raw"])
def test_another_process_places_a_key_alike(key: Any) -> None:
    told = subprocess.run(
        [sys.executable, "-c", ASK.format(key=key)],
        env={"PYTHONHASHSEED": "77"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(told.stdout) == BucketOf(1_000)[key]


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["a", "b", None, "a"]),
        pa.array([1, 2, None, 1]),
        pa.array([1.5, None, -0.0, 0.0]),
        pa.array([date(2020, 1, 1), None]),
        pa.array([], pa.string()),
    ],
    ids=lambda column: str(column.type),
)
def test_a_column_is_placed_as_its_values_are(column: pa.Array) -> None:
    expected = [BucketOf(64)[value] for value in column.to_pylist()]
    assert buckets_of([column], len(column), 64).tolist() == expected


def test_a_key_of_several_columns_is_placed_as_a_tuple() -> None:
    columns = [pa.array(["a", "b"]), pa.array([1, None])]
    expected = [BucketOf(64)[("a", 1)], BucketOf(64)[("b", None)]]
    assert buckets_of(columns, 2, 64).tolist() == expected


def test_without_a_key_all_records_share_a_bucket() -> None:
    assert len(np.unique(buckets_of([], 5, 64))) == 1
