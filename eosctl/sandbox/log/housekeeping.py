"""Periodic work on a broker's logs: retention, delayed deletion, compaction, checkpoints (`LogManager`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from eosctl.sandbox.broker.config import NodeConfig
from eosctl.sandbox.log.cleaning.manager import LogCleaner
from eosctl.sandbox.log.directories import LogDirectories
from eosctl.sandbox.log.partition_log import PartitionLog
from eosctl.sandbox.log.retention import count_deletable, segment_facts
from eosctl.sandbox.runtime import NodeRuntime
from eosctl.sandbox.timing_wheel import Pace

Logs = Callable[[], Iterable[PartitionLog]]


class Housekeeping:
    """The periodic work on a broker's logs; `logs` returns those of its partitions."""

    def __init__(self, runtime: NodeRuntime, config: NodeConfig, directories: LogDirectories, logs: Logs) -> None:
        self._runtime = runtime
        self._config = config
        self._directories = directories
        self._logs = logs
        self.cleaner = LogCleaner(runtime, config, logs, self._delete_later, directories.checkpoint_cleaned)

    def start(self) -> None:
        """Start; as in Kafka, all work but the cleaner waits for `log.initial.task.delay.ms` first."""
        self._every("log.retention.check.interval.ms", self.apply_retention)
        self._every("log.flush.offset.checkpoint.interval.ms", self._directories.checkpoint_offsets)
        if self._config.get_bool("log.cleaner.enable"):
            self.cleaner.start()

    def apply_retention(self) -> None:
        """Retire segments by age, size, and log start offset."""
        now_ms = self._runtime.now_ms()
        for log in self._logs():
            self._directories.guarded(log, partial(self._retire, log, now_ms))

    def _retire(self, log: PartitionLog, now_ms: int) -> None:
        count = count_deletable(
            segment_facts(log),
            log_start_offset=log.start_offset,
            high_watermark=log.high_watermark,
            settings=log.settings,
            now_ms=now_ms,
        )
        if count and not log.closed:
            self._delete_later(log, log.retire_segments(count, now_ms))

    def _delete_later(self, log: PartitionLog, paths: list[Path]) -> None:
        self._runtime.call_later(log.settings.file_delete_delay_ms, partial(_delete, paths))

    def _every(self, setting: str, call: Callable[[], None]) -> None:
        def run() -> None:
            self._runtime.call_later(self._config.get_int(setting), run, Pace.SCAN)
            call()

        self._runtime.call_later(self._config.get_int("log.initial.task.delay.ms"), run, Pace.SCAN)


def _delete(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
