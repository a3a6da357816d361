"""The reference engine's SQL against Spark's own, value by value and type by type."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from headway.engine.reference.sql.aggregates import compile_aggregation
from headway.engine.reference.sql.compile import compile_text
from headway.engine.reference.sql.types import SqlFault, parse_type
from headway.flow.columns.schema import Schema

pytestmark = pytest.mark.spark

SCHEMA = Schema.parse(
    "i int, b bigint, x double, f float, s string, n string, p boolean, m decimal(10,2), "
    "t timestamp, d date, a array<int>, w array<string>, url string, j string"
)
ROWS: list[dict[str, Any]] = [
    {
        "i": 7,
        "b": -12345678901,
        "x": 2.5,
        "f": 0.1,
        "s": "Hello World, hello",
        "n": "42",
        "p": True,
        "m": Decimal("12.35"),
        "t": datetime(2024, 2, 29, 13, 5, 7, 123456, tzinfo=UTC),
        "d": date(2024, 2, 29),
        "a": [3, 1, None, 3],
        "w": ["b", "a", "b"],
        "url": "https://user@example.org:8080/a/b.html?x=1&y=two#top",
        "j": '{"user": {"id": 17, "tags": ["a", "b"]}, "ok": true, "none": null}',
    },
    {
        "i": -7,
        "b": 0,
        "x": -0.5,
        "f": -2.5,
        "s": "  Grüße\tan ALLE  ",
        "n": " -3 ",
        "p": False,
        "m": Decimal("-0.05"),
        "t": datetime(1969, 12, 31, 23, 59, 59, 999000, tzinfo=UTC),
        "d": date(1969, 12, 31),
        "a": [],
        "w": [""],
        "url": "http://example.com",
        "j": "[1, 2, 3]",
    },
    {
        "i": 0,
        "b": 9007199254740993,
        "x": 1e22,
        "f": 16777216.0,
        "s": "",
        "n": "0",
        "p": None,
        "m": Decimal("99999999.99"),
        "t": datetime(1970, 1, 1, tzinfo=UTC),
        "d": date(1999, 12, 31),
        "a": [0],
        "w": ["ß", "é", "漢字", None],
        "url": "/only/path?q",
        "j": '"text"',
    },
    {
        "i": 2147483647,
        "b": 5,
        "x": math.nan,
        "f": math.inf,
        "s": "a.b.c,,x,",
        "n": "7",
        "p": True,
        "m": Decimal("0.00"),
        "t": datetime(2038, 1, 19, 3, 14, 8, tzinfo=UTC),
        "d": date(2000, 2, 28),
        "a": [5, 4, 4],
        "w": ["x"],
        "url": "mailto:a@b.c",
        "j": "{broken",
    },
    dict.fromkeys(SCHEMA.names),
]

FOLDER = Path(__file__).parent / "reference_sql"


def listed(name: str) -> list[str]:
    """The expressions of one list."""
    lines = (FOLDER / f"{name}.sql").read_text().splitlines()
    return [line for line in lines if not line.startswith("--")]


COLUMNS = {column.name: parse_type(column.type) for column in SCHEMA}


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> DataFrame:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    return spark.createDataFrame(pa.Table.from_pylist(ROWS, SCHEMA.arrow()))


def alike(ours: Any, theirs: Any) -> bool:
    """Whether two values are the same; doubles may differ in their last digits."""
    if isinstance(ours, float) and isinstance(theirs, float):
        return (math.isnan(ours) and math.isnan(theirs)) or math.isclose(
            ours, theirs, rel_tol=1e-12, abs_tol=1e-300
        )
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(alike, ours, theirs))
    return type(ours) is type(theirs) and bool(ours == theirs)


def conformed() -> list[dict[str, Any]]:
    """The rows as Arrow holds them, so that a float has 32 bits on both sides."""
    rows: list[dict[str, Any]] = pa.Table.from_pylist(ROWS, SCHEMA.arrow()).to_pylist()
    return rows


def answers(table: DataFrame, texts: list[str]) -> dict[str, tuple[str, list[Any]]]:
    """The type and the values that Spark gives each expression, all found in one query."""
    frame = table.selectExpr(*(f"{text} AS c{n}" for n, text in enumerate(texts)))
    found = frame.toArrow().to_pydict()
    return {
        text: (frame.schema[f"c{n}"].dataType.simpleString(), found[f"c{n}"])
        for n, text in enumerate(texts)
    }


@pytest.fixture(scope="module")
def of_spark(table: DataFrame) -> dict[str, dict[str, tuple[str, list[Any]]]]:
    return {
        "values": answers(table, listed("values")),
        "all": answers(table, listed("aggregates")),
        "none": answers(table.where("false"), listed("aggregates")),
    }


@pytest.mark.parametrize("text", listed("values"))
def test_an_expression_has_the_value_and_the_type_that_spark_gives_it(
    text: str, of_spark: dict[str, dict[str, tuple[str, list[Any]]]]
) -> None:
    kind, theirs = of_spark["values"][text]
    compiled = compile_text(text, COLUMNS)
    ours = [compiled.of(row) for row in conformed()]
    assert str(compiled.type) == kind
    assert alike(ours, theirs), f"ours {ours}, Spark's {theirs}"


@pytest.mark.parametrize("text", listed("refused"))
def test_what_spark_refuses_is_refused(text: str, table: DataFrame) -> None:
    with pytest.raises(PySparkException):
        table.selectExpr(f"{text} AS answer").toArrow()
    compiled = compile_text(text, COLUMNS)
    with pytest.raises(SqlFault):
        [compiled.of(row) for row in conformed()]


@pytest.mark.parametrize("text", listed("aggregates"))
@pytest.mark.parametrize("rows", ["all", "none"])
def test_an_aggregate_has_the_value_and_the_type_that_spark_gives_it(
    text: str, rows: str, of_spark: dict[str, dict[str, tuple[str, list[Any]]]]
) -> None:
    kind, (theirs,) = of_spark[rows][text]
    aggregation = compile_aggregation(text, COLUMNS, ())
    state = aggregation.fresh()
    for row in conformed() if rows == "all" else []:
        aggregation.feed(state, row)
    ours = aggregation.result(state, {})
    assert str(aggregation.type) == kind
    assert alike(ours, theirs), f"ours {ours!r}, Spark's {theirs!r}"
