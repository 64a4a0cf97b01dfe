"""Clean a log: map every key to its newest offset, then copy the retained records (Kafka's `Cleaner`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from eosctl.sandbox.log.cleaning.filter import LastRecord, LatestOffsets, Round, retain
from eosctl.sandbox.log.cleaning.plan import CleaningPlan, group_segments
from eosctl.sandbox.log.cleaning.transactions import CleanedTransactions
from eosctl.sandbox.log.partition_log import PartitionLog
from eosctl.storage.cleaned import CleanedSegment
from eosctl.storage.segment import Segment
from eosctl.wire.records.batch import BatchHeader, decode_records

#: The cleaner shares its thread with all other work, so it pauses after this many bytes.
STEP_BYTES: Final = 128 << 10


class Interrupted(Exception):  # noqa: N818 - what happened, not whose fault it is
    """The log was truncated, deleted, or closed during a cleaning."""


class LogCleaning:
    """A cleaning of a log, in steps between which the log may grow.

    Attributes:
        retired: Files of replaced segments, to be deleted after `file.delete.delay.ms`.
        end_offset: The log is clean below this offset afterwards.
    """

    def __init__(self, log: PartitionLog, plan: CleaningPlan, now_ms: int, max_keys: int) -> None:
        """Prepare a cleaning; iterating `steps` runs it.

        Args:
            log: The log.
            plan: Its dirty part.
            now_ms: Now, in milliseconds since the epoch.
            max_keys: Maximum number of keys in the offset map; the rest is left to the next cleaning.
        """
        self.retired: list[Path] = []
        self.end_offset = plan.first_dirty_offset
        self._log = log
        self._plan = plan
        self._now_ms = now_ms
        self._max_keys = max_keys

    def steps(self) -> Iterator[None]:
        """Clean the log, pausing after every `STEP_BYTES`.

        Raises:
            Interrupted: The log changed; partial results are removed.
            WireError: A batch cannot be read.
            OSError: A file cannot be read or written.
        """
        log, plan = self._log, self._plan
        if log.closed:
            raise Interrupted
        latest: dict[bytes, int] = {}
        yield from self._learn(latest)
        cleaning = Round(
            LatestOffsets(latest, self.end_offset),
            _last_records(log),
            plan.first_uncleanable_offset,
            self._now_ms,
            log.settings.delete_retention_ms,
        )
        segments = [found for found in log.store.segments[:-1] if found.base_offset < self.end_offset]
        ends = _ends(log, segments)
        transactions = CleanedTransactions()
        for group in group_segments(
            segments, plan.first_uncleanable_offset, log.settings.segment_bytes, log.settings.segment_index_bytes
        ):
            yield from self._clean(group, ends, cleaning, transactions)

    def _learn(self, latest: dict[bytes, int]) -> Iterator[None]:
        """Read the dirty part; set `end_offset` to where the keys no longer fit."""
        log, start, end = self._log, self._plan.first_dirty_offset, self._plan.first_uncleanable_offset
        transactions = CleanedTransactions()
        transactions.add_aborted(log.aborted_transactions(start, end))
        segments = [found for found in log.store.segments[:-1] if found.base_offset < end]
        ends = _ends(log, segments)
        read_bytes = 0
        for segment in segments:
            segment_end = ends[segment.base_offset]
            if segment_end <= start:
                continue
            for header, batch in self._read(segment, start):
                if header.is_control:
                    transactions.end(header, batch)
                elif not transactions.is_aborted(header):
                    for record in decode_records(batch, header):
                        if record.key is None or record.offset < start:
                            continue
                        if len(latest) >= self._max_keys and record.key not in latest:
                            return
                        latest[record.key] = record.offset
                self.end_offset = max(self.end_offset, header.next_offset)
                read_bytes += header.size_bytes
                if read_bytes >= STEP_BYTES:
                    read_bytes = 0
                    yield
            self.end_offset = segment_end

    def _clean(
        self, group: list[Segment], ends: Mapping[int, int], cleaning: Round, transactions: CleanedTransactions
    ) -> Iterator[None]:
        log = self._log
        first, config = group[0], log.store.config
        cleaned = CleanedSegment(first.directory, first.base_offset, group[-1].created_ms, config.index_interval_bytes)
        try:
            read_bytes = 0
            for segment in group:
                # Use the aborted transactions of the whole range, since the new segment needs its own index.
                transactions.add_aborted(log.aborted_transactions(segment.base_offset, ends[segment.base_offset]))
                for header, batch in self._read(segment, segment.base_offset):
                    kept = retain(header, batch, cleaning, transactions)
                    if kept.batch is not None:
                        cleaned.append(kept.batch, kept.header)
                    if kept.aborted_txn is not None:
                        cleaned.append_aborted_txn(kept.aborted_txn)
                    read_bytes += header.size_bytes
                    if read_bytes >= STEP_BYTES:
                        read_bytes = 0
                        yield
            new = cleaned.finish()
            if log.closed:
                raise Interrupted
            try:
                self.retired += log.store.replace_segments(group, new)
            except ValueError:
                raise Interrupted from None
        except BaseException:
            cleaned.discard()
            raise

    def _read(self, segment: Segment, start_offset: int) -> Iterator[tuple[BatchHeader, bytes]]:
        size_bytes = segment.size_bytes
        position = segment.offset_index.lookup(start_offset).position
        if not Path(segment.log_path).exists():
            raise Interrupted  # Retention has deleted it.
        with Path(segment.log_path).open("rb") as file:
            for _, header, batch in segment.scan(file.fileno(), position):
                if self._log.closed or segment.size_bytes != size_bytes:
                    raise Interrupted
                if header.last_offset >= start_offset:
                    yield header, batch


def _ends(log: PartitionLog, segments: Sequence[Segment]) -> dict[int, int]:
    """Return the end offset of each closed segment by its base offset."""
    following = [found.base_offset for found in log.store.segments[1 : len(segments) + 1]]
    return {found.base_offset: end for found, end in zip(segments, following, strict=True)}


def _last_records(log: PartitionLog) -> dict[int, LastRecord]:
    return {
        entry.producer_id: LastRecord(entry.batches[-1].last_offset if entry.batches else -1, entry.producer_epoch)
        for entry in log.producers.producers.values()
    }
