"""Declarations of columns, as they stand in ``CREATE TABLE t (...)``."""

from __future__ import annotations

from collections.abc import Iterator

import sqlglot
from sqlglot import exp

from headway.errors import FlowError


def columns_of(ddl: str) -> Iterator[tuple[str, str]]:
    """Name and type of each column that a declaration has.

    >>> list(columns_of("user string, clicks long"))
    [('user', 'STRING'), ('clicks', 'BIGINT')]
    """
    try:
        tree = sqlglot.parse_one(f"CREATE TABLE t ({ddl})", dialect="spark")
    except sqlglot.errors.ParseError as error:
        raise FlowError(
            f"schema {ddl!r} does not parse; write it as 'name type, name type', "
            "for example 'time timestamp, user string, size long'"
        ) from error
    found = list(tree.find_all(exp.ColumnDef))
    if not found:
        raise FlowError(f"schema {ddl!r} declares no column; write 'name type, name type'")
    for definition in found:
        if definition.kind is None:
            raise FlowError(f"column {definition.name!r} in {ddl!r} has no type; add one")
        yield definition.name, definition.kind.sql("spark")
