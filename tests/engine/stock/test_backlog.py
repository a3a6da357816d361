"""The plain source hands out each record once, in batches of the size that was asked for."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
from pyspark.sql.streaming.datasource import ReadAllAvailable

from headway.engine.stock.backlog import Backlog, BacklogReader
from headway.engine.stock.files import write_files
from headway.workloads.makers.keyed import Keyed

BACKLOG = Backlog(Keyed(keys=7), 25, 10, ("key",), readers=2)
EXPECTED = BACKLOG.maker.make(0, 25).column("key").to_pylist()


def read_all(reader: BacklogReader) -> list[list[str]]:
    batches, start = [], reader.initialOffset()
    while (end := reader.latestOffset(start, ReadAllAvailable())) != start:
        rows = [b for p in reader.partitions(start, end) for b in reader.read(p)]
        batches.append(pa.Table.from_batches(rows).column("key").to_pylist())
        start = end
    return batches


def test_all_records_come_once_in_batches_of_fixed_size() -> None:
    batches = read_all(BacklogReader(BACKLOG))
    assert [len(batch) for batch in batches] == [10, 10, 5]
    assert [key for batch in batches for key in batch] == EXPECTED
    assert BACKLOG.batches == 3


def test_columns_that_the_query_does_not_read_are_not_handed_out() -> None:
    reader = BacklogReader(BACKLOG)
    share = reader.partitions({"next": 0}, {"next": 10})[0]
    assert [batch.schema.names for batch in reader.read(share)] == [["key"]]


def test_the_files_hold_the_same_batches_a_file_for_each_reader(tmp_path: Path) -> None:
    write_files(BACKLOG, tmp_path)
    files = sorted(tmp_path.glob("*.parquet"))
    assert len(files) == BACKLOG.batches * BACKLOG.readers
    found = [pyarrow.parquet.read_table(file).column("key").to_pylist() for file in files]
    assert [key for keys in found for key in keys] == EXPECTED
