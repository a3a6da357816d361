"""Every maker: a range of records is the same whoever asks, and has the declared columns."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.flow.columns.schema import Schema
from headway.flow.topics import RecordMaker
from headway.workloads.makers.clicks import Clicks
from headway.workloads.makers.disorder import Disorder
from headway.workloads.makers.keyed import Keyed
from headway.workloads.makers.tweets import Tweets

ROUGH = Disorder(per_s=500, jitter="2s", late_share=0.1, late_by="1min")
MAKERS: list[RecordMaker] = [
    Tweets(),
    Tweets(seed=5, vocabulary=300, exponent=1.3, users=7, disorder=ROUGH),
    Tweets(vocabulary=1, users=1),
    Clicks(),
    Clicks(keys=50, exponent=1.0, seed=-3, disorder=ROUGH),
    Keyed(),
    Keyed(keys=1_000_000, exponent=1.1, seed=2**70),
    Keyed(keys=1),
]
BOUNDS = st.lists(st.integers(0, 3_000), min_size=3, max_size=3).map(sorted)
BASES = st.sampled_from([0, 1, 10**6, 10**12])


@pytest.mark.parametrize("maker", MAKERS, ids=repr)
@settings(deadline=None, max_examples=25)
@given(bounds=BOUNDS, base=BASES)
def test_a_range_is_the_same_in_one_piece_or_in_two(
    maker: RecordMaker, bounds: list[int], base: int
) -> None:
    a, b, c = (base + bound for bound in bounds)
    whole = pa.Table.from_batches([maker.make(a, c)])
    parts = pa.Table.from_batches([maker.make(a, b), maker.make(b, c)])
    assert whole.equals(parts)


@pytest.mark.parametrize("maker", MAKERS, ids=repr)
def test_a_batch_has_the_declared_columns_and_no_nulls(maker: RecordMaker) -> None:
    batch = maker.make(7, 107)
    batch.validate(full=True)
    assert batch.schema.equals(Schema.parse(maker.schema).arrow())
    assert batch.num_rows == 100
    assert sum(column.null_count for column in batch.columns) == 0


@pytest.mark.parametrize("maker", MAKERS, ids=repr)
def test_an_empty_range_is_an_empty_batch(maker: RecordMaker) -> None:
    batch = maker.make(5, 5)
    assert batch.num_rows == 0
    assert batch.schema.equals(Schema.parse(maker.schema).arrow())


@pytest.mark.parametrize("maker", MAKERS, ids=repr)
def test_a_maker_that_was_pickled_makes_the_same(maker: RecordMaker) -> None:
    again = pickle.loads(pickle.dumps(maker))
    assert again == maker
    assert again.make(10, 60).equals(maker.make(10, 60))


@pytest.mark.parametrize("kind", [Tweets, Clicks, Keyed])
def test_another_seed_makes_other_records(kind: type[Tweets | Clicks | Keyed]) -> None:
    assert not kind(seed=1).make(0, 50).equals(kind(seed=2).make(0, 50))


@pytest.mark.parametrize(("first", "stop"), [(-1, 3), (4, 3)])
def test_a_range_that_is_none_is_refused(first: int, stop: int) -> None:
    with pytest.raises(ValueError, match="0 <= first <= stop"):
        Keyed().make(first, stop)
