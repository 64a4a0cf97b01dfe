"""Logs as a data source: ``spark.read.format("eos_logs").load(path)``.

For SQL and notebooks. A one-shot job is faster through ``job.scan_frame``, which needs no planning process of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from spark_log_analytics.job import pack_splits, plan_scan
from spark_log_analytics.rows import EVENT_COLUMNS, event_batch
from spark_log_analytics.scan import SPLIT_BYTES, Split, SplitScan, count_newlines_before, number_lines, scan_split

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

BATCH_SIZE: Final = 4096


class LogsDataSource(DataSource):
    """Events of log files. Options: ``path`` (several with commas), ``zone``, ``split_bytes``."""

    @classmethod
    def name(cls) -> str:
        """Return the name for ``format``."""
        return "eos_logs"

    def schema(self) -> str:
        """Return the columns of events."""
        return EVENT_COLUMNS

    def reader(self, schema: Any) -> DataSourceReader:  # Spark passes it by this name
        """Return the reader of a batch."""
        return _Reader(dict(self.options))


class _Bin(InputPartition):
    """What one task reads."""

    def __init__(self, splits: Sequence[Split]) -> None:
        super().__init__(tuple(splits))
        self.splits = tuple(splits)


class _Reader(DataSourceReader):
    def __init__(self, options: dict[str, str]) -> None:
        lowered = {name.lower(): value for name, value in options.items()}
        if "path" not in lowered:
            raise ValueError("eos_logs needs a path: load(path), or option('path', ...)")
        self._paths = [Path(path.removeprefix("file://").strip()) for path in lowered["path"].split(",")]
        self._zone = lowered.get("zone")
        self._split_bytes = int(lowered.get("split_bytes", SPLIT_BYTES))

    def partitions(self) -> list[InputPartition]:
        from zoneinfo import ZoneInfo

        sources, _ = plan_scan(self._paths, ZoneInfo(self._zone) if self._zone else None)
        return [_Bin(splits) for splits in pack_splits(sources, self._split_bytes)] or [_Bin(())]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        from spark_log_analytics.classify import Classifier

        classifier = Classifier()
        for split in partition.splits:
            scan = scan_split(split, classifier)
            # A partition knows nothing of the others: what stands before it is counted here.
            before = SplitScan((), scan.counts._replace(newline_count=count_newlines_before(split)))
            events = tuple(number_lines((before, scan)))
            for start in range(0, len(events), BATCH_SIZE):
                yield event_batch(events[start : start + BATCH_SIZE])


def register(spark: SparkSession) -> None:
    """Make ``eos_logs`` known to a session."""
    spark.dataSource.register(LogsDataSource)
