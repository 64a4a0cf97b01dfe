"""Hand the splits of many files to tasks as rows, so that each task gets its own splits only.

A function of Spark's goes to every task with all that it holds. Up to ``FEW_FILES`` that costs less than the shuffle
that divides rows. What files have in common, such as their layouts, still goes to every task.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING, Final, NamedTuple

from eosctl.logs.files.sources import SourceFile
from eosctl.logs.layout_catalog import Layout
from eosctl.logs.layouts import Verdict
from eosctl.logs.tally import Split

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

FEW_FILES: Final = 100
"""Number of files up to which each task gets the description of all: 40 KB."""
_COLUMNS: Final = (
    "bin long, shape long, start long, end long, name string, application string, host string, wrapper string, "
    "size_bytes long, splittable boolean, modified_ms long, head binary"
)


class Shape(NamedTuple):
    """What many files have in common: their layouts, and the zone of their stamps."""

    layouts: tuple[Layout, ...]
    zone: tzinfo | None


def shapes_of(bins: Iterable[Sequence[Split]]) -> tuple[Shape, ...]:
    """Return the different shapes of files."""
    return tuple(dict.fromkeys(_shape_of(split.source) for one in bins for split in one))


def _shape_of(source: SourceFile) -> Shape:
    return Shape(source.verdict.layouts, source.zone)


def split_frame(spark: SparkSession, bins: Sequence[Sequence[Split]], shapes: Sequence[Shape]) -> DataFrame:
    """Return a row for each split; those of a bin are in a part of their own."""
    numbers = {shape: number for number, shape in enumerate(shapes)}
    rows = [
        (
            number,
            numbers[_shape_of(split.source)],
            split.start,
            split.end,
            split.source.name,
            split.source.application,
            split.source.host,
            split.source.wrapper,
            split.source.size_bytes,
            split.source.splittable,
            split.source.modified_ms,
            bytearray(split.source.head),
        )
        for number, one in enumerate(bins)
        for split in one
    ]
    return spark.createDataFrame(rows, _COLUMNS).repartitionByRange(len(bins), "bin")


def splits_of(batches: Iterable[pa.RecordBatch], shapes: Sequence[Shape]) -> Iterator[Split]:
    """Yield the splits of a task's rows.

    The counts of a file's sample, which only its summary has, are 0.
    """
    for batch in batches:
        for row in batch.to_pylist():
            del row["bin"]
            shape, start, end = shapes[row.pop("shape")], row.pop("start"), row.pop("end")
            yield Split(SourceFile(verdict=Verdict(shape.layouts, 0, 0), zone=shape.zone, **row), start, end)
