"""The account of records, which must be able to fail."""

from __future__ import annotations

from headway.measure.account import Account


def test_an_account_that_adds_up_is_balanced() -> None:
    account = Account(arrived=10, answered=6, quarantined=1, waiting=3)
    assert account.balanced
    assert str(account) == "10 arrived = 6 answered + 1 quarantined + 3 waiting"


def test_a_lost_record_and_a_doubled_one_are_seen() -> None:
    assert Account(arrived=10, answered=9).unexplained == 1
    assert Account(arrived=10, answered=11).unexplained == -1
    assert "UNEXPLAINED" in str(Account(arrived=10, answered=9))
