"""`headway ask` from arguments to answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headway.cli.main import run_app
from headway.cli.outcome import Exit

SQL = "SELECT city, count(*) AS n, sum(amount) AS total FROM sales GROUP BY city ORDER BY city"


@pytest.fixture
def sales(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A small table of sales, in a working folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    lines = [f"{n},{'Bonn' if n % 3 else 'Köln'},{n * 10}" for n in range(300)]
    (tmp_path / "sales.csv").write_text("\n".join(["id,city,amount", *lines]) + "\n")
    return "sales=sales.csv"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--table", "sales"], "--table is NAME=PATH"),
        (["--table", "s=missing.csv"], "there is no file or folder missing.csv"),
        (["--table", "s=sales.csv"], "reads sales, but its tables are s"),
        (["--table", "sales=sales.csv", "--by", "other=id"], "there is no table 'other'"),
        (["--table", "sales=sales.csv", "--until-stable", "soon"], "such as 1%"),
    ],
)
def test_what_is_said_wrongly_is_told_before_spark_starts(
    arguments: list[str], said: str, sales: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_app(["ask", SQL, *arguments]) == Exit.USED_WRONGLY
    shown = capsys.readouterr()
    assert said in shown.err
    assert "starting Spark" not in shown.err


@pytest.mark.spark
def test_a_question_is_answered_early_resumed_explained_and_refused(
    spark: SparkSession, sales: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["ask", SQL, "--table", sales, "--by", "ID", "--points", "5"]
    assert run_app([*asked, "--folder", "kept", "--json", "--report", "pages"]) == Exit.DONE
    first = capsys.readouterr()
    *answers, summary = [json.loads(line) for line in first.out.splitlines()]
    assert [one["point"] for one in answers] == [0, 1, 2, 3, 4]
    shares = [one["progress"] for one in answers]
    assert shares == sorted(shares)
    for one in answers:  # each is exact for its part of the tuples
        assert sum(row["n"] for row in one["rows"]) == round(one["progress"] * 300)
    assert answers[-1]["rows"] == [
        {"city": "Bonn", "n": 200, "total": 300_000},
        {"city": "Köln", "n": 100, "total": 148_500},
    ]
    assert (summary["ending"], summary["row_count"]) == ("final", 2)
    assert "annotated by id at 5 points" in first.err
    assert "How n converged" in Path("pages/ask.html").read_text()

    assert run_app([*asked, "--folder", "kept", "--json"]) == Exit.DONE
    again = capsys.readouterr()
    assert again.out.splitlines()[:-1] == first.out.splitlines()[:-1]
    assert "reused from" in again.err

    assert run_app([*asked, "--folder", "kept", "--until-stable", "90%"]) == Exit.DONE
    stable = capsys.readouterr()
    assert stable.out.splitlines()[0].split() == ["city", "n", "total"]
    assert "stable at point" in stable.err

    assert run_app([*asked, "--explain"]) == Exit.DONE
    assert "scan: sales" in capsys.readouterr().out
    assert run_app(["ask", "SELECT nothing FROM sales", *asked[2:]]) == Exit.USED_WRONGLY
    refused = capsys.readouterr().err
    assert "nothing" in refused
    assert "stacktrace" not in refused
