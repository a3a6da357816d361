"""The answer refines in place on a terminal, and is told in lines where there is none."""

from __future__ import annotations

import io
import json
from datetime import date
from decimal import Decimal

import pyarrow as pa
from rich.console import Console

from headway.cli.asking.cells import json_line, json_rows
from headway.cli.asking.follow import Seen
from headway.cli.asking.live import AnswerView, Shown, picture, print_answer
from headway.clock import SystemClock

SHOWN = Shown("SELECT", rows=2)


def seen(point: int, **columns: list[object]) -> Seen:
    return Seen(point, 4, (point + 1) / 4, pa.table(columns), 1.5, 0.25)


def printed(before: Seen | None, now: Seen) -> str:
    out = io.StringIO()
    Console(file=out, width=100).print(picture(SHOWN, now, before))
    return out.getvalue()


def test_each_number_stands_beside_its_change() -> None:
    before = seen(0, name=["a", "b"], n=[10, 5])
    text = printed(before, seen(1, name=["c", "a", "b"], n=[7, 12, 5]))
    assert "point 2 of 4, 50% of the tuples, 3 rows, moved 25%" in text
    rows = [line.strip("│ \n").split() for line in text.splitlines()[3:5]]
    assert rows == [["c", "7", "new"], ["a", "12", "+20.0%"]]
    assert "and 1 more rows" in text


def test_the_first_answer_has_nothing_to_compare_with() -> None:
    text = printed(None, seen(0, name=["a"], n=[10]))
    assert "new" not in text
    assert "10" in text


def test_an_answer_without_rows_or_with_values_of_any_kind_is_shown() -> None:
    nothing = Seen(0, 4, 0.1, pa.table({"n": pa.array([], pa.int64())}), 0.1)
    assert "0 rows" in printed(None, nothing)
    kinds = seen(1, n=[None, 3], tags=[["x"], None], x=[0.5, float("nan")])
    assert "NULL" in printed(nothing, seen(1, n=[None]))
    assert "['x']" in printed(kinds, kinds)


def test_a_console_that_is_no_terminal_gets_lines() -> None:
    out = io.StringIO()
    with AnswerView(SHOWN, Console(file=out, width=40), SystemClock()) as view:
        for point in range(4):
            view.show(seen(point, n=[point]))
    lines = out.getvalue().splitlines()
    assert lines[0] == "1.5s: point 1 of 4, 25% of the tuples, 1 rows, moved 25%"
    assert lines[-1].startswith("1.5s: point 4 of 4, 100% of the tuples")


def test_a_terminal_is_redrawn() -> None:
    out = io.StringIO()
    console = Console(file=out, width=80, force_terminal=True)
    with AnswerView(SHOWN, console, SystemClock()) as view:
        view.show(seen(0, n=[123]))
    assert "waiting for the first answer" in out.getvalue()
    assert "123" in out.getvalue()


def test_a_final_answer_is_exact_and_unwrapped() -> None:
    out = io.StringIO()
    table = pa.table({"long": ["word " * 40], "x": [0.1 + 0.2], "d": [Decimal("1.50")]})
    print_answer(table, 20, Console(file=out))
    assert len(out.getvalue().splitlines()) == 2
    assert "0.30000000000000004" in out.getvalue()
    assert "1.50" in out.getvalue()


def test_json_keeps_every_digit_and_every_column() -> None:
    exact = Decimal("12345678901234567890.10")
    columns = [pa.array([exact]), pa.array([date(1995, 1, 1)]), pa.array([[exact]])]
    table = pa.table(columns, names=["d", "d", "many"])
    line = json_line({"rows": json_rows(table)})
    assert '"d":12345678901234567890.10' in line
    assert json.loads(line)["rows"][0]["d_2"] == "1995-01-01"
    assert json.loads(line, parse_float=Decimal)["rows"][0]["many"] == [exact]
