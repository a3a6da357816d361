"""A cut that is one fact: the texts by which ties are broken, and what cannot be said."""

from __future__ import annotations

import pytest

from headway.early.read.total import totally_ordered
from headway.errors import QueryError

# Of what shows `*`, all columns are one value more, which the order ends with.
CUT = "SELECT * EXCEPT (hw_row) FROM (SELECT *, STRUCT(*) AS hw_row FROM "
ORDERED = {
    "no cut": ("SELECT v, k from t order by v", "SELECT v, k from t order by v"),
    "names": (
        "SELECT v, k AS l FROM t ORDER BY w DESC LIMIT 3",
        "SELECT v, k AS l FROM t ORDER BY w DESC, v, l LIMIT 3",
    ),
    "no names": ("SELECT v + 1, k FROM t LIMIT 3", "SELECT v + 1, k FROM t ORDER BY 1, 2 LIMIT 3"),
    "twice the same name": (
        "SELECT a.v, b.V FROM a CROSS JOIN b ORDER BY b.w LIMIT 3",
        "SELECT a.v, b.V FROM a CROSS JOIN b ORDER BY b.w, 1, 2 LIMIT 3",
    ),
    "an offset alone": ("SELECT v FROM t OFFSET 3", "SELECT v FROM t ORDER BY v OFFSET 3"),
    "several together": (
        "SELECT v FROM t LATERAL VIEW explode(xs) e AS x UNION ALL SELECT k FROM t LIMIT 3",
        "SELECT v FROM t LATERAL VIEW EXPLODE(xs) e AS x UNION ALL SELECT k FROM t "
        "ORDER BY 1 LIMIT 3",
    ),
    "several, by a key": (
        "SELECT v, k FROM t EXCEPT SELECT k, v FROM t ORDER BY k DESC LIMIT 3 OFFSET 1",
        "SELECT v, k FROM t EXCEPT SELECT k, v FROM t ORDER BY k DESC, 1, 2 LIMIT 3 OFFSET 1",
    ),
    "all of several": (
        "SELECT * FROM t UNION SELECT * FROM u ORDER BY v LIMIT 3",
        CUT + "(SELECT * FROM t UNION SELECT * FROM u) ORDER BY v, hw_row LIMIT 3)",
    ),
    "all columns": (
        "SELECT * FROM t LATERAL VIEW explode(xs) e AS x LIMIT 5",
        CUT + "t LATERAL VIEW EXPLODE(xs) e AS x ORDER BY hw_row LIMIT 5)",
    ),
    "all columns and more": (
        "SELECT *, v + 1 AS w FROM t ORDER BY u.x, 2 LIMIT 5",
        "SELECT * EXCEPT (hw_row) FROM (SELECT *, v + 1 AS w, STRUCT(*, v + 1) AS hw_row FROM t "
        "ORDER BY u.x, 2, hw_row LIMIT 5)",
    ),
    "all columns, each once": (
        "SELECT DISTINCT * FROM t ORDER BY v LIMIT 5",
        CUT + "(SELECT DISTINCT * FROM t) ORDER BY v, hw_row LIMIT 5)",
    ),
    "columns made of one": (
        "SELECT posexplode(xs) FROM t LIMIT 5",
        CUT + "(SELECT POSEXPLODE(xs) FROM t) ORDER BY hw_row LIMIT 5)",
    ),
    "an order by all": (
        "SELECT * FROM t ORDER BY ALL DESC LIMIT 5",
        "SELECT * FROM t ORDER BY ALL DESC LIMIT 5",
    ),
    "behind brackets": (
        "(SELECT v FROM t) LIMIT 5",
        "(SELECT v FROM t) ORDER BY 1 LIMIT 5",
    ),
    "all columns behind brackets": (
        "(SELECT * FROM t) LIMIT 5",
        CUT + "((SELECT * FROM t)) ORDER BY hw_row LIMIT 5)",
    ),
    "below": (
        "WITH a AS (SELECT * FROM (SELECT * FROM t LIMIT 9) LIMIT 5) SELECT count(*) FROM a "
        "WHERE v IN (SELECT v FROM t UNION SELECT k FROM t LIMIT 1)",
        "WITH a AS (" + CUT + "(" + CUT + "t ORDER BY hw_row LIMIT 9)) ORDER BY hw_row LIMIT 5)) "
        "SELECT COUNT(*) FROM a WHERE v IN (SELECT v FROM t UNION SELECT k FROM t ORDER BY 1 "
        "LIMIT 1)",
    ),
    "whether there is one": (
        "SELECT v FROM t WHERE EXISTS(SELECT * FROM u WHERE u.v = t.v LIMIT 1)",
        "SELECT v FROM t WHERE EXISTS(SELECT * FROM u WHERE u.v = t.v LIMIT 1)",
    ),
}
REFUSED = {
    "SELECT v FROM t SORT BY v LIMIT 3": "`SORT BY v` .* write ORDER BY instead",
    "SELECT v FROM t CLUSTER BY v LIMIT 3": "`CLUSTER BY v` .* write ORDER BY instead",
    "SELECT DISTINCT t.* FROM t ORDER BY t.v LIMIT 3": "`t.v` .* instead of `[*]`",
    "SELECT *, explode(xs) FROM t GROUP BY ALL ORDER BY max(v) LIMIT 3": r"`MAX\(v\)` .* instead",
}


@pytest.mark.parametrize("case", ORDERED)
def test_a_cut_is_under_an_order_of_all_that_is_shown(case: str) -> None:
    sql, ordered = ORDERED[case]
    assert totally_ordered(sql) == ordered


@pytest.mark.parametrize("sql", REFUSED)
def test_a_cut_that_would_be_left_to_chance_is_refused_with_what_to_write(sql: str) -> None:
    with pytest.raises(QueryError, match=REFUSED[sql]):
        totally_ordered(sql)
