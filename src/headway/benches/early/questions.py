"""The questions of the exactness benchmark, and the tables that they are asked of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headway.workloads.tpch.beyond import BEYOND
from headway.workloads.tpch.queries import BY_ORDER, KEYS, NAMES, query


@dataclass(frozen=True, slots=True)
class Question:
    """One question: its name, its text, and the key that each table is sampled by."""

    name: str
    sql: str
    keys: Mapping[str, str]
    rightly: str | None = None

    @property
    def checked_by(self) -> str:
        """What a batch query must be asked to give the same rows."""
        return self.rightly or self.sql


# Where a window function tells ties apart, the rule is spelt out for the batch query.
RIGHTLY = {
    "row_number_of_ties": BEYOND["row_number_of_ties"].replace(
        "ORDER BY l_quantity", "ORDER BY l_quantity, l_orderkey, l_linenumber, l_shipmode"
    )
}


def all_questions() -> list[Question]:
    """TPC-H's own questions, then those beyond it."""
    own = [Question(name, query(name), KEYS[name]) for name in NAMES]
    more = [Question(name, sql, BY_ORDER, RIGHTLY.get(name)) for name, sql in BEYOND.items()]
    return own + more
