"""What contracts promise: equal keys enter together, and only where that is known."""

from __future__ import annotations

import pytest

from headway.early.algebra import Condition, Equality, Term
from headway.early.contracts import AT_START, Classes, Contract, aligned, joint

BY_K = Contract(keys=frozenset({("t.k",)}), function="hash")
TYPES = {"t.k": "bigint", "u.j": "int", "w.m": "bigint"}
BY_J = Contract(keys=frozenset({("u.j",)}), function="hash")


def equal(left: str, right: str) -> Condition:
    return Condition(Term(f"`{left}` = `{right}`", frozenset({left, right})), Equality(left, right))


def test_equality_is_followed_through_a_third_column() -> None:
    classes = Classes([equal("t.k", "w.m"), equal("w.m", "u.j")], TYPES)
    assert aligned([BY_K, BY_J, AT_START], classes)
    assert not aligned([BY_K, BY_J], Classes([equal("t.k", "w.m")], TYPES))


@pytest.mark.parametrize("kind", ["string", "double", "decimal(18,0)", "timestamp", ""])
def test_equality_with_a_column_that_is_hashed_otherwise_leads_nowhere(kind: str) -> None:
    equalities = [equal("t.k", "w.m"), equal("w.m", "u.j")]
    assert not aligned([BY_K, BY_J], Classes(equalities, TYPES | {"w.m": kind}))
    assert not aligned([BY_K, BY_J], Classes(equalities, dict.fromkeys(TYPES, "double")))


def test_a_join_knows_its_key_by_every_name_that_equals_it() -> None:
    contract = joint([BY_K, AT_START], Classes([equal("t.k", "w.m")], TYPES))
    assert contract.determined_by(["w.m"])
    assert contract.determined_by(["t.k", "other"])
    assert not contract.determined_by(["other"])


def test_a_join_of_other_keys_promises_no_key() -> None:
    contract = joint([BY_K, BY_J], Classes([], TYPES))
    assert contract.keys == frozenset()
    assert contract.inclusive


def test_a_key_of_two_columns_is_lost_with_one_of_them() -> None:
    contract = Contract(keys=frozenset({("a", "b")}), function="hash")
    assert contract.over({"a": ("x",), "b": ("y", "z")}).keys == {("x", "y"), ("x", "z")}
    assert contract.over({"a": ("x",)}).keys == frozenset()


def test_what_is_there_from_the_start_is_determined_by_anything() -> None:
    assert AT_START.determined_by([])
    assert not BY_K.determined_by([])
