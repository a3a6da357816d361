"""What others leave of a resource."""

from __future__ import annotations

import pytest

from headway.model.shared import cpu_s, half_batch_s, taken_by_others, time_s


def test_a_thread_has_one_core_at_most() -> None:
    assert cpu_s(1.0, cores=8, taken_share=0.0) == 1.0
    assert cpu_s(1.0, cores=1, taken_share=0.0) == 1.0


def test_a_thread_has_what_the_others_leave() -> None:
    assert cpu_s(1.0, cores=4, taken_share=0.9) == pytest.approx(2.5)
    assert cpu_s(1.0, cores=4, taken_share=1.0) == float("inf")
    assert time_s(5.0, 10.0, 1.0) == float("inf")


def test_a_record_waits_for_half_of_its_batch() -> None:
    assert half_batch_s(0.4) == 0.2


def test_what_all_others_need_is_taken() -> None:
    assert taken_by_others([1.0, 3.0], own=1, cores=2) == 0.5
    assert taken_by_others([9.0, 0.1], own=1, cores=2) == 1.0
