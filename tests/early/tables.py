"""Two small tables and their contracts, for what is decided without Spark."""

from __future__ import annotations

from collections.abc import Sequence

from headway.early.contracts import AT_START, Contract
from headway.early.sampling import Sampling

TYPES = {
    "t": {"k": "bigint", "g": "string", "v": "bigint", "x": "double", "d": "decimal(12,2)"},
    "u": {"k": "bigint", "h": "string", "w": "bigint"},
}


def sampled(said: str) -> dict[str, Contract]:
    """Contracts from a text such as `t=k u=row t+3=k`; others are there from the start."""
    contracts: dict[str, Contract] = dict.fromkeys(TYPES, AT_START)
    for part in said.split():
        name, _, key = part.partition("=")
        table, _, stay = name.partition("+")
        kind = "row" if key == "row" else "key"
        by = () if key == "row" else tuple(key.split(","))
        sampling = Sampling(kind, by, 20, stay=int(stay) if stay else None)
        contracts[table] = sampling.contract(TYPES[table])
    return contracts


def types_of(_sql: str, texts: Sequence[str]) -> list[str]:
    """The types that Spark would find for aggregates of the two tables' columns."""
    return [type_of(text) for text in texts]


def type_of(text: str) -> str:
    if "`t.x`" in text:
        return "double"
    if "`t.d`" in text:
        return "decimal(22,2)" if text.startswith("SUM") else "decimal(16,6)"
    if text.startswith("AVG"):
        return "double"
    return "string" if "`t.g`" in text or "`u.h`" in text else "bigint"
