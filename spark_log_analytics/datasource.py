"""Read logs as a data source: ``spark.read.format("eos_logs").load(path)``.

It is meant for SQL and notebooks. A single job is faster with ``job.scan_frame``, which needs no planning process.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition

from eosctl.logs.files.content import count_newlines
from eosctl.logs.files.urls import local_path, scheme_of
from eosctl.logs.positions import Position, PositionStore
from eosctl.logs.scan import SPLIT_BYTES, number_lines, plan_scan, scan_split
from eosctl.logs.tail import (
    EVERYTHING,
    IDLE_MS,
    Admission,
    TailLossError,
    TailSplit,
    UnchangedFiles,
    find_ends,
    find_sizes,
    plan_tail,
    read_tail,
)
from eosctl.logs.tally import Split, SplitScan
from eosctl.model.log_event import LogEvent
from spark_log_analytics.job import pack_splits
from spark_log_analytics.rows import EVENT_COLUMNS, event_batch

try:
    from pyspark.sql.streaming.datasource import (
        ReadAllAvailable,
        ReadMaxBytes,
        ReadMaxFiles,
        SupportsTriggerAvailableNow,
    )
except ImportError:  # Spark before 4.2
    ReadAllAvailable = ReadMaxBytes = ReadMaxFiles = SupportsTriggerAvailableNow = None

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

_AVAILABLE_NOW: Final = () if SupportsTriggerAvailableNow is None else (SupportsTriggerAvailableNow,)
BATCH_SIZE: Final = 4096


class LogsDataSource(DataSource):
    """Events of log files, as a batch or as a stream.

    Options: ``path`` (separated by commas) and ``zone``; for a batch, ``split_bytes``; for a stream, ``idle_ms`` (after
    this time without writes, no event of a file grows), ``maxBytesPerTrigger`` or ``maxFilesPerTrigger`` (how much a
    micro-batch reads), ``failOnDataLoss`` (default true: files that disappeared before they were read fail the query),
    and ``positions`` (a folder for the positions in files, next to the checkpoint, so that offsets stay small).
    """

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

    def streamReader(self, schema: Any) -> DataSourceStreamReader:  # noqa: N802
        """Return the reader of a stream."""
        return _StreamReader(dict(self.options))


class _Bin(InputPartition):
    """The splits that one task reads, each with the number of line breaks before it."""

    def __init__(self, splits: Sequence[tuple[Split, int]]) -> None:
        super().__init__(tuple(splits))
        self.splits = tuple(splits)


class _Options:
    """The options of a reader."""

    def __init__(self, options: dict[str, str]) -> None:
        lowered = {name.lower(): value for name, value in options.items()}
        if "path" not in lowered:
            raise ValueError("eos_logs needs a path: load(path), or option('path', ...)")
        self.paths = [_here(path.strip()) for path in lowered["path"].split(",")]
        self.zone = ZoneInfo(lowered["zone"]) if "zone" in lowered else None
        self.split_bytes = int(lowered.get("split_bytes", SPLIT_BYTES))
        self.fail_on_data_loss = lowered.get("failondataloss", "true").lower() != "false"
        self.positions = _here(lowered["positions"]) if "positions" in lowered else None
        self.idle_ms = int(lowered.get("idle_ms", IDLE_MS))
        self.admission = Admission(*(_limit(lowered, f"max{unit}PerTrigger") for unit in ("Files", "Bytes")))
        if None not in self.admission:
            raise ValueError("eos_logs takes maxBytesPerTrigger or maxFilesPerTrigger, not both")


def _limit(options: dict[str, str], name: str) -> int | None:
    """Return a limit.

    Raises:
        ValueError: It is not a positive whole number.
    """
    text = options.get(name.lower())
    if text is None:
        return None
    if not text.isdecimal() or int(text) == 0:
        raise ValueError(f"eos_logs needs a positive number for {name}, not {text!r}")
    return int(text)


def _here(address: str) -> Path:
    """Return the path of logs that tasks open themselves.

    Raises:
        ValueError: They are in another file system.
    """
    path = local_path(address)
    if path is None:
        raise ValueError(
            f"eos_logs opens files by their path, and cannot read a URL of {scheme_of(address)}. Mount the storage, or "
            "run eosctl logs submit, and read its table of events."
        )
    return path


class _LinesBefore:
    """Counts the line breaks before each split of a file; the splits come in order, so that each byte is read once."""

    def __init__(self) -> None:
        self._last: tuple[str, int, int] = ("", 0, 0)

    def of(self, split: Split) -> int:
        """Return the number of line breaks before a split.

        Raises:
            OSError: The file cannot be read.
        """
        name, start, count = self._last if self._last[0] == split.source.name else (split.source.name, 0, 0)
        if split.start > start:
            count += count_newlines(Path(name), start, split.start)
        self._last = name, split.start, count
        return count


class _Reader(DataSourceReader):
    def __init__(self, options: dict[str, str]) -> None:
        self._options = _Options(options)

    def partitions(self) -> list[InputPartition]:
        sources, _ = plan_scan(self._options.paths, self._options.zone)
        lines = _LinesBefore()
        bins = pack_splits(sources, self._options.split_bytes)
        return [_Bin([(split, lines.of(split)) for split in splits]) for splits in bins] or [_Bin(())]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        from eosctl.logs.classifier.classify import own_classifier
        from spark_log_analytics.workers import collect_rarely, keep_loaded

        collect_rarely()
        classifier = own_classifier()
        for split, line_count in partition.splits:
            scan = scan_split(split, classifier)
            before = SplitScan((), scan.counts._replace(newline_count=line_count))
            yield from _batches(tuple(number_lines((before, scan))))
        keep_loaded()


class _Tail(InputPartition):
    """The part that one task of a stream reads."""

    def __init__(self, part: TailSplit) -> None:
        super().__init__(part)
        self.part = part


class _StreamReader(DataSourceStreamReader, *_AVAILABLE_NOW):  # type: ignore[misc]
    """A reader with file positions as offsets; each is the start of the last event, which may still grow."""

    def __init__(self, options: dict[str, str]) -> None:
        self._options = _Options(options)
        self._known: dict[str, Position] = {}
        self._unchanged = UnchangedFiles()
        self._store = PositionStore(self._options.positions)
        self._sizes: dict[str, int] | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        return {}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._sizes = find_sizes(self._options.paths)

    def getDefaultReadLimit(self) -> Any:  # noqa: N802
        admission = self._options.admission
        if admission.bytes is not None:
            return ReadMaxBytes(admission.bytes)
        return ReadAllAvailable() if admission.files is None else ReadMaxFiles(admission.files)

    def latestOffset(self, start: dict[str, Any] | None = None, limit: object = None) -> dict[str, Any]:  # noqa: N802
        # Spark before 4.2 passes neither; a restarted query then counts lines again.
        known = self._known or self._store.decode(start or {})
        is_unlimited = ReadAllAvailable is not None and isinstance(limit, ReadAllAvailable)
        self._known = find_ends(
            self._options.paths,
            known,
            idle_ms=self._options.idle_ms,
            admission=EVERYTHING if is_unlimited else self._options.admission,
            sizes=self._sizes,
            unchanged=self._unchanged,
        )
        return self._store.encode(self._known)

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        plan = plan_tail(self._store.decode(start), self._store.decode(end), self._options.zone)
        if plan.losses and self._options.fail_on_data_loss:
            lost = "; ".join(map(str, plan.losses))
            raise TailLossError(f"{lost}. Restore the files, or set failOnDataLoss=false to continue without them.")
        return [_Tail(part) for part in plan.parts]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        from eosctl.logs.classifier.classify import own_classifier
        from spark_log_analytics.workers import collect_rarely, keep_loaded

        collect_rarely()
        if isinstance(partition, _Tail):
            try:
                yield from _batches(read_tail(partition.part, own_classifier()))
            except TailLossError:
                if self._options.fail_on_data_loss:
                    raise
        keep_loaded()


def _batches(events: Sequence[LogEvent]) -> Iterator[pa.RecordBatch]:
    for start in range(0, len(events), BATCH_SIZE):
        yield event_batch(events[start : start + BATCH_SIZE])


def register(spark: SparkSession) -> None:
    """Register ``eos_logs`` in a session."""
    spark.dataSource.register(LogsDataSource)
