"""Generation of metadata snapshots, and removal of old snapshots and log segments (KIP-630)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from eosctl.sandbox.metadata.image import ClusterImage, ImageDelta
from eosctl.sandbox.metadata.log import MetadataLog
from eosctl.sandbox.metadata.records import ReplayedBatch
from eosctl.sandbox.metadata.replay import replay_in_turns
from eosctl.sandbox.ports import BrokerConfig
from eosctl.sandbox.runtime import NodeRuntime
from eosctl.sandbox.timing_wheel import Pace, WheelTimer
from eosctl.sandbox.turns import TurnQueue

CLEAN_INTERVAL_MS: Final = 60_000  # Kafka's cleaning interval (KafkaRaftClient).
DELETE_DELAY_MS: Final = 60_000  # file.delete.delay.ms of the metadata log.
MINUTE_MS: Final = 60_000


class SnapshotGenerator:
    """Writes the snapshots of a voter or observer, and removes the log that they replace.

    - A snapshot is written after `metadata.log.max.record.bytes.between.snapshots`, or
      `metadata.log.max.snapshot.interval.ms` after the last one if there are new records. As in Kafka, records found at
      start-up do not count.
    - A snapshot is removed if a later one exists and it is older than `metadata.max.retention.ms`, or if the total size
      exceeds `metadata.max.retention.bytes`. The log then starts with the later one.
    - A log with records of unknown types gets no snapshot, since it would lose them.
    """

    def __init__(
        self,
        log: MetadataLog,
        runtime: NodeRuntime,
        config: BrokerConfig,
        guarded: Callable[[Callable[[], None]], None],
        wrote: Callable[[str, str], None],
    ) -> None:
        """Create the generator.

        Args:
            log: The node's copy of the metadata log.
            runtime: Time and timers.
            config: The node's settings.
            guarded: Runs work on the files and handles I/O errors.
            wrote: Called with the name of each snapshot, and the reason for writing it.
        """
        self._log = log
        self._runtime = runtime
        self._config = config
        self._guarded = guarded
        self._wrote = wrote
        self._image = ClusterImage()
        self._batches = TurnQueue(runtime, self._replay)
        self._last: ReplayedBatch | None = None
        self._new_bytes = 0
        self._is_whole = True
        self._is_caught_up = False
        self._is_check_scheduled = False
        self._since_ms = 0
        self._timer: WheelTimer | None = None

    def start(self) -> None:
        """Start to follow the log."""
        self._log.listen(self._batches.add)
        self._since_ms = self._runtime.now_ms()
        self._runtime.call_later(CLEAN_INTERVAL_MS, self._clean, Pace.SCAN)

    # --- writing ------------------------------------------------------------------------------------------------

    def _replay(self, batch: ReplayedBatch) -> Iterator[None]:
        yield from replay_in_turns(self._image, batch.records, ImageDelta())
        self._is_whole = self._is_whole and batch.is_whole
        if self._last is None:
            self._runtime.call_soon(self._begin)
        self._last = batch
        if self._is_caught_up:
            self._new_bytes += batch.size_bytes
            if not self._is_check_scheduled:
                self._is_check_scheduled = True
                self._runtime.call_soon(self._look)

    def _begin(self) -> None:
        self._is_caught_up = True

    def _look(self) -> None:
        self._is_check_scheduled = False
        limit_bytes = self._config.get_int("metadata.log.max.record.bytes.between.snapshots")
        interval_ms = self._config.get_int("metadata.log.max.snapshot.interval.ms")
        if self._new_bytes >= limit_bytes:
            self._write(f"we have replayed at least {limit_bytes} bytes")
        elif interval_ms and self._new_bytes and self._timer is None:
            why = f"we have waited at least {interval_ms // MINUTE_MS} minute(s)"
            left_ms = self._since_ms + interval_ms - self._runtime.now_ms()
            self._timer = self._runtime.call_later(max(left_ms, 0), partial(self._write, why))

    def _write(self, why: str) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._new_bytes = 0
        self._since_ms = self._runtime.now_ms()
        if self._is_whole:
            self._guarded(partial(self._write_file, why))

    def _write_file(self, why: str) -> None:
        if self._last is not None:
            snapshot = self._log.write_snapshot(self._image, self._last, self._runtime.now_ms())
            if snapshot is not None:
                self._wrote(snapshot.name, why)

    # --- removing -----------------------------------------------------------------------------------------------

    def _clean(self) -> None:
        self._runtime.call_later(CLEAN_INTERVAL_MS, self._clean, Pace.SCAN)
        self._guarded(self._remove)

    def _remove(self) -> None:
        snapshots = self._log.snapshots
        while len(snapshots) > 1 and self._exceeds_retention():
            if not self._drop_before(snapshots[1].end_offset):
                return

    def _exceeds_retention(self) -> bool:
        retention_bytes = self._config.get_int("metadata.max.retention.bytes")
        retention_ms = self._config.get_int("metadata.max.retention.ms")
        snapshots = self._log.snapshots
        kept_bytes = self._log.log.store.size_bytes + sum(snapshot.size_bytes for snapshot in snapshots)
        age_ms = self._runtime.now_ms() - snapshots[0].last_log_ms()
        return 0 <= retention_bytes < kept_bytes or 0 <= retention_ms < age_ms

    def _drop_before(self, offset: int) -> bool:
        """Start the log at the snapshot of this offset; return False if the log does not reach it yet."""
        log = self._log.log
        if not log.start_offset < offset <= log.high_watermark:
            return False
        log.advance_start_offset(offset)
        whole = sum(following.base_offset <= offset for following in log.store.segments[1:])
        retired = log.retire_segments(whole, self._runtime.now_ms()) if whole else []
        for snapshot in [one for one in self._log.snapshots if one.end_offset < offset]:
            self._log.snapshots.remove(snapshot)
            retired.append(snapshot.path.rename(f"{snapshot.path}.deleted"))
        self._runtime.call_later(DELETE_DELAY_MS, partial(_delete, retired))
        return True


def _delete(paths: list[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
