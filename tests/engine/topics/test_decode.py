"""Lines into columns: each line is a row or is named with its reason."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.engine.topics.decode import Layout, decode, fast_json, patiently
from headway.flow.columns.schema import Schema

JSON = Layout("json", Schema.parse("time timestamp, user string, size bigint, share double"))
GOOD = b'{"time":"2026-01-01T00:00:00.5Z","user":"ann","size":3,"share":0.5,"more":1}'


def test_good_lines_go_the_fast_way() -> None:
    found = decode([GOOD, b"{}"], JSON)
    assert found.good is None
    assert found.batch.to_pylist()[0] == {
        "time": datetime(2026, 1, 1, 0, 0, 0, 500_000, tzinfo=UTC),
        "user": "ann",
        "size": 3,
        "share": 0.5,
    }
    assert set(found.batch.to_pylist()[1].values()) == {None}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"user": "an', "end of data|unexpected"),
        (b"not json", "unexpected|expected"),
        (b"[1, 2]", "expected a JSON object, got list"),
        (b'{"size": "three"}', "column 'size': 'three' is not a int64"),
        (b'{"size": 1.5}', "column 'size'"),
        (b'{"time": "yesterday"}', "column 'time'"),
        (b'{"user": 5}', "column 'user'"),
        (b'\xff\xfe{"user": "x"}', "."),
        (b"", "."),
    ],
)
def test_a_bad_line_harms_no_other(line: bytes, reason: str) -> None:
    found = decode([GOOD, line, GOOD], JSON)
    assert found.good == [0, 2]
    assert found.batch.num_rows == 2
    ((place, why),) = found.bad
    assert place == 1
    assert re.search(reason, why), why


@given(
    st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                "user": st.none() | st.text(max_size=5),
                "size": st.none() | st.integers(-(2**63), 2**63 - 1),
                "share": st.none() | st.floats(allow_nan=False, allow_infinity=False),
                "time": st.none()
                | st.datetimes(datetime(1980, 1, 1), datetime(2100, 1, 1)).map(datetime.isoformat),
            },
        ),
        min_size=1,
        max_size=8,
    )
)
def test_both_ways_read_the_same(records: list[dict[str, object]]) -> None:
    lines = [orjson.dumps(record) for record in records]
    patient = patiently(lines, JSON)
    assert patient.bad == ()
    assert decode(lines, JSON).batch.to_pylist() == patient.batch.to_pylist()


def test_times_with_and_without_a_zone_stand_in_one_column() -> None:
    lines = [b'{"time":"2026-01-01T00:00:00"}', b'{"time":"2026-01-01T02:00:00+02:00"}']
    batch = decode(lines, JSON).batch
    assert len(set(batch.column("time").to_pylist())) == 1
    assert fast_json(lines, JSON).num_rows == 2


def test_csv_lines_follow_the_header() -> None:
    layout = Layout("csv", Schema.parse("b bigint, a string"), ",", ("a", "skipped", "b"))
    found = decode([b'"x, y",1,2', b"z,1,", b"too,few", b"z,1,two"], layout)
    assert found.batch.to_pylist() == [{"b": 2, "a": "x, y"}, {"b": None, "a": "z"}]
    assert [place for place, _ in found.bad] == [2, 3]
    assert "expected 3 fields, got 2" in found.bad[0][1]


def test_text_that_is_not_utf8_is_named() -> None:
    found = decode([b"fine", b"\xff"], Layout("text", Schema.parse("value string")))
    assert found.batch.to_pylist() == [{"value": "fine"}]
    assert "utf-8" in found.bad[0][1]
