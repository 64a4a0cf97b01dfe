"""Read logs in topics as a data source: ``spark.read.format("eos_logs_kafka")``, as a batch or as a stream.

The options are those of Spark's own Kafka source as far as they apply, but confluent-kafka reads, so no jar is needed.
The rows are those of ``eos_logs``.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition

from eosctl.logs.pattern_string import layout_of_pattern
from eosctl.logs.tail import IDLE_MS
from eosctl.logs.topics.address import (
    LATEST,
    Bound,
    TopicError,
    Topics,
    checked_settings,
    parse_bound,
    read_settings,
    topic_names,
)
from eosctl.logs.topics.consumer import Cluster, connect
from eosctl.logs.topics.plan import PART_OFFSETS, TopicPart, cut_parts, lost_offsets, plan_topics, scan_with
from eosctl.logs.topics.tail import TopicTail, between, everything, limited, place_of
from spark_log_analytics.rows import EVENT_COLUMNS, event_batch

try:
    from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows, SupportsTriggerAvailableNow
except ImportError:  # Spark before 4.2
    ReadAllAvailable = ReadMaxRows = SupportsTriggerAvailableNow = None

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

BATCH_SIZE: Final = 4096
_LOG: Final = logging.getLogger(__name__)
_AVAILABLE_NOW: Final = () if SupportsTriggerAvailableNow is None else (SupportsTriggerAvailableNow,)


class KafkaLogsDataSource(DataSource):
    """Events of logs that shippers write to topics.

    Options: ``kafka.bootstrap.servers``, ``subscribe`` (topics separated by commas), ``kafka.*`` (librdkafka's
    settings), ``config`` (a file with such settings on the driver's machine, because Spark shows options in clear),
    ``startingOffsets`` (``earliest``, ``latest``, a time, or offsets as JSON; the default is ``earliest`` for a batch
    and ``latest`` for a stream), ``startingTimestamp`` (ms), ``endingOffsets`` and ``endingTimestamp`` of a batch,
    ``failOnDataLoss`` (true), ``maxOffsetsPerTrigger``, ``maxRecordsPerPartition`` (of a task), ``zone``, ``pattern``,
    and for a stream ``idle_ms``: after this time without records, no event of a source grows.
    """

    @classmethod
    def name(cls) -> str:
        """Return the name for ``format``."""
        return "eos_logs_kafka"

    def schema(self) -> str:
        """Return the columns of events."""
        return EVENT_COLUMNS

    def reader(self, schema: Any) -> DataSourceReader:  # Spark passes it by this name
        """Return the reader of a batch."""
        return _Reader(dict(self.options))

    def streamReader(self, schema: Any) -> DataSourceStreamReader:  # noqa: N802
        """Return the reader of a stream."""
        return _StreamReader(dict(self.options))


class _Options:
    """The options of a reader; the case of their names does not matter."""

    def __init__(self, options: Mapping[str, str]) -> None:
        given = {name.lower(): value for name, value in options.items()}
        for name in ("kafka.bootstrap.servers", "subscribe"):
            if name not in given:
                raise TopicError(f"eos_logs_kafka needs the option {name}.")
        settings = read_settings(Path(given["config"])) if "config" in given else {}
        settings |= {name.removeprefix("kafka."): value for name, value in given.items() if name.startswith("kafka.")}
        self.topics = Topics(
            given["kafka.bootstrap.servers"],
            topic_names(given["subscribe"]),
            checked_settings(settings),
            _bound(given, "starting"),
            _bound(given, "ending"),
        )
        self.zone = ZoneInfo(given["zone"]) if "zone" in given else None
        self.layouts = (layout_of_pattern(given["pattern"]),) if "pattern" in given else ()
        self.idle_ms = int(given.get("idle_ms", IDLE_MS))
        self.part_offsets = int(given.get("maxrecordsperpartition", PART_OFFSETS))
        self.most = int(given["maxoffsetspertrigger"]) if "maxoffsetspertrigger" in given else None
        self.fails_on_loss = given.get("failondataloss", "true").lower() != "false"

    def report_loss(self, lost: str) -> None:
        """Fail because of lost records, or log the loss.

        Raises:
            TopicError: Records are lost, and ``failOnDataLoss`` is set.
        """
        if not lost:
            return
        if self.fails_on_loss:
            raise TopicError(f"{lost}. Set failOnDataLoss to false to continue with the remaining records.")
        _LOG.warning("%s", lost)


def _bound(given: Mapping[str, str], which: str) -> Bound | None:
    text = given.get(f"{which}timestamp") or given.get(f"{which}offsets")
    return None if text is None else parse_bound(text)


class _Part(InputPartition):
    """The part that one task reads."""

    def __init__(self, part: TopicPart) -> None:
        super().__init__(part)
        self.part = part


def _read(options: _Options, partition: InputPartition) -> Iterator[pa.RecordBatch]:
    from eosctl.logs.classifier.classify import own_classifier
    from spark_log_analytics.workers import keep_loaded

    if not isinstance(partition, _Part):
        return
    with connect(partition.part.topics) as cluster:
        scan = scan_with(cluster, partition.part, own_classifier())
    # Unreadable parts have raised an error; any other error reports lost records.
    options.report_loss(scan.counts.error)
    for start in range(0, len(scan.events), BATCH_SIZE):
        yield event_batch(scan.events[start : start + BATCH_SIZE])
    keep_loaded()


class _Reader(DataSourceReader):
    def __init__(self, options: dict[str, str]) -> None:
        self._options = _Options(options)

    def partitions(self) -> list[InputPartition]:
        options = self._options
        parts, lost = plan_topics(options.topics, options.zone, options.layouts, options.part_offsets)
        for one in lost:
            options.report_loss(one.reason if one.is_failure else "")
        return [_Part(part) for part in parts] or [InputPartition(None)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        yield from _read(self._options, partition)


class _StreamReader(DataSourceStreamReader, *_AVAILABLE_NOW):  # type: ignore[misc]
    """A reader with the offsets of partitions; each is before the events that may still grow."""

    def __init__(self, options: dict[str, str]) -> None:
        self._options = _Options(options)
        self._tail = TopicTail(self._options.idle_ms)
        self._target: dict[str, int] | None = None
        self._open = ExitStack()
        self._cluster: Cluster | None = None

    def __getstate__(self) -> dict[str, Any]:
        # A task has its input in its partition, and its own connection.
        return {"_options": self._options}

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return place_of(self._connected(), self._options.topics.start or LATEST)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._target = everything(self._connected())

    def getDefaultReadLimit(self) -> Any:  # noqa: N802
        return ReadAllAvailable() if self._options.most is None else ReadMaxRows(self._options.most)

    def latestOffset(self, start: dict[str, int] | None = None, limit: object = None) -> dict[str, int]:  # noqa: N802
        most = self._options.most
        if ReadMaxRows is not None:
            most = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        begun = start or {}
        if self._target is None:
            return self._tail.ends(self._connected(), begun, most)
        ends = {name: max(begun.get(name, 0), end) for name, end in self._target.items()}
        return ends if most is None else limited(begun, ends, most)

    def reportLatestOffset(self) -> dict[str, int]:  # noqa: N802
        return everything(self._connected())

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        options, cluster = self._options, self._connected()
        parts: list[InputPartition] = []
        for topic, number, first, stop in between(start, end):
            low, _ = cluster.bounds(topic, number)
            options.report_loss(lost_offsets(f"{topic}-{number}", first, low) if f"{topic}-{number}" in start else "")
            cut = cut_parts(
                options.topics,
                topic,
                number,
                max(first, low),
                stop,
                low,
                options.zone,
                options.layouts,
                options.part_offsets,
            )
            parts += [_Part(part) for part in cut]
        return parts

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        yield from _read(self._options, partition)

    def stop(self) -> None:
        self._open.close()
        self._cluster = None

    def _connected(self) -> Cluster:
        if self._cluster is None:
            self._cluster = self._open.enter_context(connect(self._options.topics, gives_up=True))
        return self._cluster


def register(spark: SparkSession) -> None:
    """Register ``eos_logs_kafka`` in a session."""
    spark.dataSource.register(KafkaLogsDataSource)
