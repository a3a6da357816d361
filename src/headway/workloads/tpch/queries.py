"""TPC-H's 22 queries as text, and which key each is best sampled by."""

from __future__ import annotations

from importlib.resources import files

NAMES = tuple(f"q{number:02d}" for number in range(1, 23))
# Progress follows the key that joins a question's large tables; others are there from the start.
BY_ORDER = {"lineitem": "l_orderkey", "orders": "o_orderkey"}
BY_PART = {"lineitem": "l_partkey", "partsupp": "ps_partkey", "part": "p_partkey"}
BY_CUSTOMER = {"orders": "o_custkey", "customer": "c_custkey"}
KEYS = dict.fromkeys(NAMES, BY_ORDER)
KEYS |= dict.fromkeys(("q02", "q11", "q16", "q17", "q20"), BY_PART)
KEYS |= dict.fromkeys(("q13", "q22"), BY_CUSTOMER)
# Q3 as paper 5 generalises it (section 5.2): without filters and without a limit.
Q3_GENERAL = """
SELECT l_orderkey, sum(l_extendedprice * (1 - l_discount)) AS revenue, o_orderdate, o_shippriority
FROM orders, lineitem
WHERE l_orderkey = o_orderkey
GROUP BY l_orderkey, o_orderdate, o_shippriority
"""


def query(name: str) -> str:
    """The text of one query."""
    return (files("headway.workloads.tpch") / "sql" / f"{name}.sql").read_text()
