"""Determine whether the marker of a producer's last commit reached a partition, below TV2.

Markers do not name their transaction, commits below TV2 keep the epoch, and brokers' clocks differ. So two pairings are
compared: the last marker belongs to the last decision (delivered), or to the previous one (missing). A pairing is
possible if a single clock difference within the tolerance explains all its pairs: each marker was written after its
decision and before the coordinator reported the transaction as complete.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from eosctl.model.history import TransactionLogEntry
from eosctl.model.limits import Limits
from eosctl.model.marker_search import MarkerSearch, ProducerMarker
from eosctl.model.transaction import TopicPartition, TransactionState

# Number of compared pairs, from the newest on, since clocks drift.
PAIRS: Final = 16
# Maximum drift of two clocks over these pairs, in milliseconds.
DRIFT_MS: Final = 10
# Maximum time before the decision at which the search starts, in milliseconds.
WINDOW_MS: Final = 600_000
_PREPARED: Final = (TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT)
_COMPLETE: Final = (TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT)


class Ending(NamedTuple):
    """A decided transaction of a producer on a partition, in the coordinator's clock (milliseconds since the epoch)."""

    began_at_ms: int
    decided_at_ms: int
    completed_at_ms: int | None
    committed: bool


def endings(
    entries: Sequence[TransactionLogEntry], producer_id: int, partition: TopicPartition, last: TransactionLogEntry
) -> tuple[Ending, ...]:
    """Return the decided transactions with the partition up to `last`, oldest first."""
    own = [entry for entry in entries if entry.producer_id == producer_id]
    found = []
    for index, entry in enumerate(own):
        if entry.state not in _PREPARED or partition not in entry.partitions:
            continue
        following = own[index + 1] if index + 1 < len(own) else None
        completed = following.written_at_ms if following is not None and following.state in _COMPLETE else None
        began = entry.written_at_ms if entry.start_time_ms is None else entry.start_time_ms
        committed = entry.state == TransactionState.PREPARE_COMMIT
        found.append(Ending(began, entry.written_at_ms, completed, committed))
        if entry is last:
            break
    return tuple(found)


def is_whole(entries: Sequence[TransactionLogEntry], producer_id: int) -> bool:
    """Return whether the log contains everything of the producer id, from its first epoch on.

    Compaction keeps the newest record of an id in each cleaned part, so everything after an older record is complete.
    """
    own = [entry for entry in entries if entry.producer_id == producer_id]
    if not own:
        return False
    return entries[0].producer_id != producer_id or (
        own[0].state == TransactionState.EMPTY and own[0].producer_epoch == 0
    )


def search_since_ms(ended: Sequence[Ending]) -> int:
    """Return the time from which on markers are relevant, in milliseconds since the epoch."""
    last = ended[-1]
    first = ended[-PAIRS:][0]
    return max(first.began_at_ms, last.decided_at_ms - WINDOW_MS) - Limits().clock_tolerance_ms


def was_delivered(ended: Sequence[Ending], search: MarkerSearch, *, whole: bool) -> bool | None:
    """Return whether the marker of the last transaction is in the partition; None if undecidable.

    Args:
        ended: The decided transactions of the producer on the partition, oldest first.
        search: The producer's markers before the hanging transaction.
        whole: Whether `ended` are all transactions of the producer.
    """
    if not search.complete:
        return None
    delivered = _explains(ended, search.markers)
    missing = _explains_without_last(ended, search.markers, whole=whole)
    if delivered != missing:
        return delivered
    if not whole or search.since_ms > ended[0].began_at_ms - Limits().clock_tolerance_ms:
        return None
    # Both pairings fit, e.g. with regular intervals or a large clock difference. But each decision has its marker.
    if len(search.markers) == len(ended):
        return True
    return False if len(search.markers) == len(ended) - 1 else None


def _explains(ended: Sequence[Ending], markers: Sequence[ProducerMarker], until_ms: int | None = None) -> bool:
    """Return whether one clock difference explains the pairs, starting with the newest.

    `until_ms` is the latest possible end of the newest transaction; None if unknown.
    """
    if not ended or not markers:
        return False
    tolerance_ms = Limits().clock_tolerance_ms
    least, most = -tolerance_ms, tolerance_ms
    for ending, marker in list(zip(reversed(ended), reversed(markers), strict=False))[:PAIRS]:
        if ending.committed != marker.committed:
            return False
        ended_by_ms = until_ms if ending.completed_at_ms is None else ending.completed_at_ms
        if ended_by_ms is not None:
            least = max(least, marker.written_at_ms - ended_by_ms - DRIFT_MS)
        most = min(most, marker.written_at_ms - ending.decided_at_ms + DRIFT_MS)
        until_ms = ending.began_at_ms
    return least <= most


def _explains_without_last(ended: Sequence[Ending], markers: Sequence[ProducerMarker], *, whole: bool) -> bool:
    """Return whether the markers fit if the marker of the last transaction is missing."""
    if not markers:
        return True
    began_at_ms = ended[-1].began_at_ms
    if len(ended) > 1:
        return _explains(ended[:-1], markers, began_at_ms)
    # The previous decision is unknown: its marker was written before the last transaction started.
    return not whole and markers[-1].written_at_ms <= began_at_ms + Limits().clock_tolerance_ms
