"""What a benchmark of early answers asks: made tables, or those of real files that the user has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headway.benches.options import BenchOptions
from headway.engine.early.proving.made import name_file
from headway.workloads.progressive import REAL_TABLES, Tables, made_tables
from headway.workloads.real import REAL, find_real


@dataclass(frozen=True, slots=True)
class Given:
    """The tables, the files that they come of, if any, and how a report says that."""

    tables: Tables
    files: Mapping[str, Path]
    said: str

    def name_in(self, spark: Any) -> None:
        """Let the queries of a session find the files."""
        for name, path in self.files.items():
            name_file(spark, name, path, REAL[name].schema)


def given(options: BenchOptions, rows: int, names: Sequence[str]) -> Given:
    """Real tables where a folder holds the files of these names, or else made ones of some rows."""
    if options.data is None:
        return Given(made_tables(rows), {}, f"made, {rows} rows")
    files = {name: find_real(name, options.data) for name in names}
    return Given(REAL_TABLES, files, ", ".join(path.name for path in files.values()))
