"""Log lines of a node's log layer: segments, producer snapshots, and recovery."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.logging.event_log import ERROR, NO_LOG, WARN, EventLog


class StorageEvents:
    """Log lines of a node's log layer; the loggers moved to `org.apache.kafka.storage` in 4.0."""

    def __init__(self, log: EventLog, directory: str, *, is_3_9: bool) -> None:
        self._log = log
        self._directory = directory
        self._is_3_9 = is_3_9

    def rolled(self, partition: TopicPartition, offset: int) -> None:
        """Log that a new segment was created."""
        logger = "kafka.log.LocalLog" if self._is_3_9 else "org.apache.kafka.storage.internals.log.LocalLog"
        where = self._place("LocalLog", partition)
        self._log.write(logger, f"{where} Rolled new log segment at offset {offset} in 0 ms.")

    def wrote_snapshot(self, partition: TopicPartition, offset: int, producer_count: int) -> None:
        """Log that a producer snapshot was written."""
        self._log.write(
            "org.apache.kafka.storage.internals.log.ProducerStateManager",
            f"[ProducerStateManager partition={partition}] Wrote producer snapshot at offset {offset} with "
            f"{producer_count} producer ids in 0 ms.",
        )

    def loaded(self, partition: TopicPartition, recovered: Sequence[int], end_offset: int) -> None:
        """Log that a log with records was opened; `recovered` are the segments that were read again."""
        where = self._place("LogLoader", partition)
        loader = "kafka.log.LogLoader" if self._is_3_9 else "org.apache.kafka.storage.internals.log.LogLoader"
        for number, base_offset in enumerate(recovered):
            done = f"{number}/{len(recovered)}" if self._is_3_9 else str(number)
            text = f"{where} Recovering unflushed segment {base_offset}. {done} recovered for {partition}."
            self._log.write(loader, text)
        unified = "kafka.log.UnifiedLog$" if self._is_3_9 else "org.apache.kafka.storage.internals.log.UnifiedLog"
        version = " with message format version 2" if self._is_3_9 else ""
        self._log.write(unified, f"{where} Loading producer state till offset {end_offset}{version}")

    def failed(self, error: OSError, what: str) -> None:
        """Log that a directory went offline because of an I/O error."""
        channel = "org.apache.kafka.storage.internals.log.LogDirFailureChannel"
        self._log.write(channel, what, level=ERROR, throwable=f"java.io.IOException: {error.strerror or error}")
        self._log.write("kafka.log.LogManager", f"Stopping serving logs in dir {self._directory}", level=WARN)

    def all_failed(self, directories: Sequence[Path]) -> None:
        """Log that the broker halts because its last log directory failed."""
        text = f"Shutdown broker because all log dirs in {', '.join(map(str, directories))} have failed"
        self._log.write("kafka.log.LogManager", text, level=ERROR)

    def _place(self, part: str, partition: TopicPartition) -> str:
        return f"[{part} partition={partition}, dir={self._directory}]"


SILENT: Final = StorageEvents(NO_LOG, "", is_3_9=False)
