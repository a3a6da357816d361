"""The columns of a record that is written in Avro, from its schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from headway.errors import FlowError
from headway.flow.columns.schema import Column, Schema

PLAIN = {
    "string": "string", "boolean": "boolean", "int": "int", "long": "bigint", "float": "float",
    "double": "double", "bytes": "binary", "enum": "string",
}  # fmt: skip
REFUSED = ("uuid", "time-millis", "time-micros", "duration")
LOGICAL = {
    "timestamp-millis": "timestamp",
    "timestamp-micros": "timestamp",
    "date": "date",
}


def read_avro(given: str | Path) -> str:
    """The text of an Avro schema: the text itself, or that of an .avsc file."""
    text = str(given)
    if not text.lstrip().startswith("{"):
        path = Path(text)
        if not path.is_file():
            raise FlowError(f"there is no Avro schema {text!r}; give an .avsc file or its text")
        text = path.read_text()
    try:
        return json.dumps(json.loads(text))
    except json.JSONDecodeError as error:
        raise FlowError(f"the Avro schema is not JSON: {error}") from error


def avro_columns(text: str) -> Schema:
    """The columns of an Avro record.

    >>> str(avro_columns('{"type": "record", "name": "r", "fields": ['
    ...     '{"name": "user", "type": "string"}, {"name": "size", "type": ["null", "long"]}]}'))
    'user string, size bigint'
    """
    record = json.loads(text)
    if record.get("type") != "record":
        raise FlowError(f"an Avro schema of type 'record' is needed; got {record.get('type')!r}")
    return Schema(tuple(Column(f["name"], column_type(f["name"], f["type"]))
                        for f in record["fields"]))  # fmt: skip


def column_type(name: str, kind: Any) -> str:
    """The type of one field; a union may only add null."""
    if isinstance(kind, list):
        others = [each for each in kind if each != "null"]
        if len(others) == 1:
            return column_type(name, others[0])
    elif isinstance(kind, dict):
        if kind.get("logicalType") in LOGICAL:
            return LOGICAL[kind["logicalType"]]
        if kind.get("logicalType") in REFUSED:
            raise FlowError(
                f"Avro field {name!r} is a {kind['logicalType']}, which is no column of headway's"
            )
        if kind.get("logicalType") == "decimal":
            return f"decimal({kind['precision']}, {kind.get('scale', 0)})"
        if kind["type"] == "array":
            return f"array<{column_type(name, kind['items'])}>"
        return column_type(name, kind["type"])
    elif kind in PLAIN:
        return PLAIN[kind]
    raise FlowError(
        f"Avro field {name!r} is a {json.dumps(kind)}, which is no column of headway's; leave it "
        "out of the schema only if the writer did too"
    )
