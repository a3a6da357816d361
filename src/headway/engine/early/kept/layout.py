"""How the tuples of an annotated table lie in files: by point, by cluster, sorted by the key."""

from __future__ import annotations

import shutil
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from headway.early.chunks import Chunk, buckets
from headway.early.progress import FROM
from headway.early.sampling import Sampling
from headway.engine.early.kept.contents import tuple_hash
from headway.engine.early.opening import Clusters, clustered_name, place_of

BUCKET = "hw_bucket"
HALF = "hw_half"
# The folder in which files are named by their point, too; Spark and others take it for hidden.
BY_POINT = "_hw_by_point"


def laid_out(sampling: Sampling) -> list[Chunk]:
    """The buckets that a table is stored in; what is there from the start has one."""
    return buckets(1 if sampling.kind == "start" else sampling.points)


def write_buckets(
    df: DataFrame, sampling: Sampling, folder: Path, halves: int, clusters: Clusters
) -> None:
    """Write the tuples of each bucket to files of their own, as many as tasks read at once.

    Where there are clusters, these files are theirs: the hash is the one that Spark shuffles by.
    """
    laid = laid_out(sampling)
    bounds = ", ".join(str(one.first) for one in laid)
    bucket = F.expr(f"SIZE(FILTER(ARRAY({bounds}), hw_first -> {FROM} >= hw_first)) - 1")
    key_hash = f"HASH({', '.join(f'`{c}`' for c in clusters.by)})"
    half = F.expr(f"PMOD({key_hash if clusters.count else tuple_hash(df.schema)}, {halves})")
    order = [FROM, *(f"`{name}`" for name in sampling.by if name in df.columns)]
    spread = df.withColumn(BUCKET, bucket).withColumn(HALF, half.cast("int"))
    (
        spread.repartition(len(laid) * halves, BUCKET, HALF)
        .sortWithinPartitions(BUCKET, HALF, *order)
        .write.partitionBy(BUCKET, HALF)
        .parquet(str(folder))
    )
    if clusters.count:
        for path in sorted(folder.rglob("*.parquet")):
            named = clustered_name(path.name, int(path.parent.name.removeprefix(f"{HALF}=")))
            checksum = path.with_name(f".{path.name}.crc")
            if checksum.exists():
                checksum.rename(path.with_name(f".{named}.crc"))
            path.rename(path.with_name(named))


def listed(folder: Path, sampling: Sampling) -> tuple[tuple[str, ...], ...]:
    """The files of each bucket, relative to the folder."""
    laid = laid_out(sampling)
    return tuple(
        tuple(
            str(path.relative_to(folder))
            for path in sorted((folder / f"{BUCKET}={n}").rglob("*.parquet"))
        )
        for n in range(len(laid))
    )


def named_by_point(
    folder: Path, sampling: Sampling, files: tuple[tuple[str, ...], ...], clusters: Clusters
) -> tuple[str, ...]:
    """Give files names by point and cluster, beside their own; none if points share files.

    They are links that hold wherever the folder is moved to. Names are never used again, for Spark
    remembers files by them.
    """
    alone = all(one.first == one.last for one in laid_out(sampling))
    if not clusters.count or not alone or len(files) < 2:
        return ()
    (folder / BY_POINT).mkdir()
    named: dict[int, str] = {}
    for point, own in enumerate(files):
        for name in own:
            place = point * clusters.count + place_of(name)
            if place in named:
                shutil.rmtree(folder / BY_POINT)
                return ()
            named[place] = f"{BY_POINT}/{clustered_name(Path(name).name, place)}"
            checksum = Path(name).with_name(f".{Path(name).name}.crc")
            try:
                (folder / named[place]).symlink_to(Path("..") / name)
                if (folder / checksum).exists():
                    beside = (folder / named[place]).with_name(f".{Path(named[place]).name}.crc")
                    beside.symlink_to(Path("..") / checksum)
            except OSError:  # a file system without links
                shutil.rmtree(folder / BY_POINT)
                return ()
    return tuple(named[place] for place in sorted(named))
