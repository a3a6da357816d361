"""Annotated tables at rest: Parquet in buckets of progress, with a manifest of what is where.

A slice of progress is a list of files, so early points read little. The manifest is written last
and by renaming, so a table is either all there or not there.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, IntegerType, MapType, StructType

from headway.early.contracts import AT_START, Contract
from headway.early.progress import FROM, UNTIL
from headway.early.sampling import Sampling, from_json, start_text, until_text
from headway.engine.early.kept.contents import Contents, contents_of, quoted
from headway.engine.early.kept.layout import (
    BUCKET,
    laid_out,
    listed,
    named_by_point,
    write_buckets,
)
from headway.engine.early.opening import (
    Clusters,
    FileSet,
    clusters_of,
    of_points,
    open_files,
    place_of,
)
from headway.engine.spark.session import lanes_of
from headway.engine.topics.spool import write_durably
from headway.errors import QueryError

MANIFEST = "manifest.json"
VERSION = 3  # of how files are laid out, and of what their manifest tells


@dataclass(frozen=True, slots=True)
class Stored:
    """One annotated table: where its files are, how it was sampled, and how tuples enter.

    `by_point` are the same files under other names, from which Spark learns the point and the
    cluster of each; there are none where points share files, or have no clusters. The digest
    changes with any value, and with nothing else. What the table is `held_by` lives as long.
    """

    folder: Path
    sampling: Sampling
    schema: StructType
    files: tuple[tuple[str, ...], ...]
    entering: tuple[int, ...]
    source: str = ""
    clusters: Clusters = field(default_factory=Clusters)
    by_point: tuple[str, ...] = ()
    digest: str = ""
    held_by: object = field(default=None, compare=False, repr=False)

    @property
    def contract(self) -> Contract:
        return self.sampling.contract(self.types)

    @property
    def contract_at_once(self) -> Contract:
        """The same where all tuples are there; its keys are those that they lie apart by."""
        if not self.clusters.count:
            return AT_START
        return replace(self.contract, at_start=True, inclusive=True)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.schema.names)

    @property
    def types(self) -> dict[str, str]:
        return {one.name: type_text(one.dataType) for one in self.schema}

    @property
    def rows(self) -> int:
        return sum(self.entering)

    @property
    def inclusive(self) -> bool:
        return self.sampling.inclusive

    @property
    def points(self) -> int:
        return self.sampling.points

    @property
    def anew(self) -> bool:
        """Whether all tuples come again with each chunk."""
        return False

    @property
    def lost(self) -> bool:
        """Whether files are gone, as they are once other data is annotated in the folder."""
        return not all((self.folder / name).exists() for some in self.files for name in some)

    @property
    def said(self) -> tuple[object, ...]:
        """What answers over this table depend on."""
        types = tuple(self.types.items())
        return self.sampling.as_json(), self.entering, self.source, types, self.digest

    def view(self, spark: SparkSession, name: str, last: int, first: int = 0) -> str:
        """The tuples that enter between two points, with their progress, as SQL."""
        return view_upto(spark, self, last, first)

    def unread(self, spark: SparkSession, name: str) -> str:
        """The first tuples, whose files are opened anyway, to ask for types."""
        return view_upto(spark, self, 0)


def annotate(df: DataFrame, sampling: Sampling, folder: str | Path, source: str = "") -> Stored:
    """Give each tuple its progress and store the table; twice gives the same progress."""
    folder = Path(folder).absolute()  # a JVM keeps the directory that it was started in
    spark = df.sparkSession
    refuse_our_names(df)
    check_room(folder, sampling)
    columns = list(df.columns)
    types = [type_text(field.dataType) for field in df.schema]
    start = start_text(sampling, columns, types)
    try:
        marked = df.select("*", F.expr(start).cast("int").alias(FROM))
        if not sampling.inclusive:
            marked = marked.select("*", F.expr(until_text(sampling, FROM)).cast("int").alias(UNTIL))
    except (AnalysisException, ParseException) as error:
        said = first_line(error)
        raise QueryError(
            f"the sample cannot be drawn by {', '.join(sampling.by)}: {said}"
        ) from error
    fresh = folder.with_name(f".{folder.name}.{os.getpid()}")
    shutil.rmtree(fresh, ignore_errors=True)
    halves = lanes_of(spark).cores
    by = sampling.by if sampling.kind == "key" else ()
    clusters = clusters_of(by, df.schema, halves)
    write_buckets(marked, sampling, fresh, halves, clusters)
    files = listed(fresh, sampling)
    named = named_by_point(fresh, sampling, files, clusters)
    none = (0,) * (1 if sampling.kind == "start" else sampling.points)
    stored = Stored(fresh, sampling, df.schema, files, none, source, clusters, named)
    found = read_back(spark, stored)
    stored = replace(stored, entering=found.entering, digest=found.digest)
    if (kept := the_same(folder, stored)) is not None:
        shutil.rmtree(fresh)
        return kept
    keep_manifest(stored)
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh.rename(folder)
    return replace(stored, folder=folder)


def check_there(name: str, table: Stored) -> None:
    """Refuse a table whose files are gone: Spark would only say that one is not there."""
    if table.lost:
        raise QueryError(
            f"files of {name} are gone from {table.folder}: other data was annotated there since; "
            "ask of what that gave, or annotate this data in another folder"
        )


def the_same(folder: Path, made: Stored) -> Stored | None:
    """The table in a folder if it is what was just made anew: who has it may go on reading it."""
    with suppress(QueryError):
        kept = open_stored(folder)
        if kept.said == made.said and kept.clusters == made.clusters and not kept.lost:
            return kept
    return None


def type_text(kind: DataType) -> str:
    """A type as SQL says it; Spark's own short text does not quote the names within.

    >>> type_text(StructType().add("a b", ArrayType(IntegerType())))
    'struct<`a b`:array<int>>'
    """
    match kind:
        case StructType():
            named = (quoted(one.name) for one in kind)
            inside = (type_text(one.dataType) for one in kind)
            return f"struct<{','.join(map(':'.join, zip(named, inside, strict=True)))}>"
        case ArrayType():
            return f"array<{type_text(kind.elementType)}>"
        case MapType():
            return f"map<{type_text(kind.keyType)},{type_text(kind.valueType)}>"
    return str(kind.simpleString())


def check_room(folder: Path, sampling: Sampling) -> None:
    """Refuse a folder that holds anything but the same sample: it would be replaced, and lost."""
    if not folder.exists():
        return
    try:
        kept = open_stored(folder)
    except QueryError:
        # Ours, but damaged, laid out as of old, or left half removed: made again.
        if not folder.is_dir() or (any(folder.iterdir()) and not any(folder.glob(f"{BUCKET}=*"))):
            said = f"{folder} holds something else; choose a folder that is not there"
            raise QueryError(said) from None
        return
    if kept.sampling != sampling:
        otherwise = f"{kept.sampling.kind} {', '.join(kept.sampling.by)}".strip()
        raise QueryError(
            f"{folder} keeps a table annotated otherwise (by {otherwise}, {kept.sampling.points} "
            f"points, seed {kept.sampling.seed}); choose another folder, or remove this one"
        )


def first_line(error: Exception) -> str:
    """What Spark complains of, without the plan or the stack below it.

    Of a function in Python it is the last line of its traceback that says what went wrong.

    >>> first_line(ValueError("In a worker:\\nTraceback:\\n  File 'x'\\nKeyError: 'a'\\n"))
    "KeyError: 'a'"
    """
    first, _, rest = str(error).partition("\n")
    _, traced, lines = rest.partition("Traceback")
    said = [line for line in lines.splitlines()[1:] if line and not line.startswith(" ")]
    return said[0] if traced and said else first.rstrip(";")


def refuse_our_names(df: DataFrame) -> None:
    taken = [name for name in df.columns if name.lower().startswith("hw_")]
    if taken:
        raise QueryError(
            f"the columns {', '.join(taken)} begin with hw_, which progress is kept under; "
            "rename them first"
        )


def read_back(spark: SparkSession, stored: Stored) -> Contents:
    """What was written, as it will be read."""
    paths = [str(stored.folder / name) for own in stored.files for name in own]
    if not paths:
        return Contents(stored.entering, "")
    rows = spark.read.schema(columns_of(stored)).parquet(*paths)
    return contents_of(rows, len(stored.entering))


def keep_manifest(stored: Stored) -> None:
    """Write the manifest so that it is either whole or not there."""
    found = {
        "version": VERSION,
        "sampling": asdict(stored.sampling),
        "schema": json.loads(stored.schema.json()),
        "files": stored.files,
        "entering": stored.entering,
        "source": stored.source,
        "clusters": asdict(stored.clusters),
        "by_point": stored.by_point,
        "digest": stored.digest,
    }
    write_durably(stored.folder / MANIFEST, json.dumps(found, indent=1).encode())


def open_stored(folder: str | Path) -> Stored:
    """An annotated table by its folder."""
    folder = Path(folder).absolute()
    target = folder / MANIFEST
    if not target.is_file():
        raise QueryError(
            f"{folder} holds no annotated table (no {MANIFEST}); make one with hw.progress(...)"
        )
    try:
        found = json.loads(target.read_text())
        if found["version"] != VERSION:
            raise ValueError(f"it is of version {found['version']}, not {VERSION}")
        return Stored(
            folder,
            from_json(found["sampling"]),
            StructType.fromJson(found["schema"]),
            tuple(tuple(one) for one in found["files"]),
            tuple(found["entering"]),
            found.get("source", ""),
            Clusters(tuple(found["clusters"]["by"]), found["clusters"]["count"]),
            linked(folder, found.get("by_point", ())),
            found["digest"],
        )
    except (ValueError, KeyError, TypeError) as error:
        raise QueryError(f"{target} cannot be read ({error}); annotate the table again") from error


def linked(folder: Path, names: Sequence[str]) -> tuple[str, ...]:
    """The second names of files, or none where a copy of the folder has lost some."""
    return tuple(names) if all((folder / name).exists() for name in names) else ()


def view_upto(spark: SparkSession, stored: Stored, last: int, first: int = 0) -> str:
    """The tuples that enter between two points, with their progress, as SQL.

    Only buckets that hold some are read; tuples that are there from the start always are.
    """
    laid = laid_out(stored.sampling)
    if stored.sampling.kind == "start":
        first = 0
    wanted = [n for n, one in enumerate(laid) if one.first <= last and one.last >= first]
    paths = tuple(str(stored.folder / name) for n in wanted for name in stored.files[n])
    # Files are sorted by point and key, so those of a single point by the key.
    alone = len(wanted) == 1 and laid[wanted[0]].first == laid[wanted[0]].last
    rows = stored.rows if stored.sampling.kind == "start" else 0
    view = open_files(spark, FileSet(paths, columns_of(stored), stored.clusters, alone, rows))
    inside = [f"{FROM} <= {last}"] if laid[wanted[-1]].last > last else []
    inside += [f"{FROM} >= {first}"] if laid[wanted[0]].first < first else []
    return f"(SELECT * FROM {view} WHERE {' AND '.join(inside)})" if inside else view


def columns_of(stored: Stored) -> StructType:
    """The columns that files have: those of the table, and its progress."""
    schema = StructType([*stored.schema.fields]).add(FROM, IntegerType())
    return schema if stored.inclusive else schema.add(UNTIL, IntegerType())


def view_by_point(spark: SparkSession, stored: Stored, last: int, first: int) -> str:
    """The tuples that enter between two points as SQL, those of each point in tasks of their own.

    The n-th task has the tuples of point n divided by the number of clusters.
    """
    count = stored.clusters.count
    wanted = range(first * count, (last + 1) * count)
    paths = tuple(str(stored.folder / name) for name in stored.by_point if place_of(name) in wanted)
    clusters = of_points(stored.clusters, stored.points)
    return open_files(spark, FileSet(paths, columns_of(stored), clusters, in_order=True))
