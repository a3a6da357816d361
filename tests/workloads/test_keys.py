"""Running counts: one answer for each record, the last of which is the key's count."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from headway.workloads.keys import KeyCounts, key_counts
from headway.workloads.registry import WORKLOADS

from .driver import run_pair

KEYS = st.lists(st.sampled_from("abc"))


@given(KEYS)
def test_each_record_tells_its_keys_new_count(keys: list[str]) -> None:
    records = [(float(n), {"key": key, "value": 0}) for n, key in enumerate(keys)]
    answers, states = run_pair(KeyCounts(), records)
    assert answers == [(float(n), key, keys[: n + 1].count(key)) for n, key in enumerate(keys)]
    assert states == Counter(keys)


@given(KEYS, KEYS)
def test_merging_the_counts_of_two_parts_equals_counting_both(
    left: list[str], right: list[str]
) -> None:
    pair = KeyCounts()

    def count(keys: list[str]) -> dict[str, int]:
        return run_pair(pair, [(0.0, {"key": key}) for key in keys])[1]

    ours, theirs = count(left), count(right)
    merged = {
        key: pair.merge(ours.get(key, pair.init(key)), theirs.get(key, pair.init(key)))
        for key in ours | theirs
    }
    assert merged == count(left + right)


def test_the_native_form_counts_by_key() -> None:
    assert key_counts(WORKLOADS["keys"].source(count=100)).columns == ("key", "n")
