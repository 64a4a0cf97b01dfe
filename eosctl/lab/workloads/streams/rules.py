"""The rules by which Kafka Streams keeps local state exactly-once; each can be broken to see what it is for."""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple

#: What Streams writes for a store whose offset it does not know (``OffsetCheckpoint.OFFSET_UNKNOWN``).
OFFSET_UNKNOWN: Final = -4


class OffsetsIn(Enum):
    """Where the changelog offset of a store is kept."""

    CHECKPOINT = "checkpoint"  # the task's .checkpoint, up to 4.2
    STORE = "store"  # the store itself, since 4.3 (KIP-1035)


class Start(Enum):
    """What a task does about a store that it finds."""

    RESTORE_ALL = "restore all"
    RESTORE_REST = "restore rest"
    WIPE = "wipe"
    REFUSE = "refuse"  # 4.4.0 opens it again and again, and neither wipes nor restores it


class Rules(NamedTuple):
    """What an instance does; the defaults are of Streams 4.3 (``ProcessorStateManager``, ``StoreChangelogReader``).

    Attributes:
        offsets_in: Where offsets are kept.
        wipes_unknown: A store without an offset is wiped: it may contain writes of an aborted transaction.
        forgets_loaded: The offset is removed as soon as it has been read, so that it does not outlive later writes.
        restores_committed: Restoring reads the changelog with ``isolation.level=read_committed``.
        restores_to_end: Restoring continues to the end that the changelog had, and so waits for transactions that were
            open there (KAFKA-10167); otherwise only to the last stable offset, before transactions that are decided
            already and whose markers are on their way.
        notes_restoration: An offset is written when restoring is done, and stays while the task runs, as the state
            updater of 3.9 does. A process that is killed then restarts with a store whose offset is too old for it.
        buffers_writes: Writes wait in memory, and reach the store with the commit, in one batch with their offset
            (KIP-892, ``enable.transactional.statestores`` of 4.4). The store holds committed writes only, and its
            offset is right at any time; a store without one, not yet written by RocksDB, is wiped.
    """

    offsets_in: OffsetsIn = OffsetsIn.STORE
    wipes_unknown: bool = True
    forgets_loaded: bool = True
    restores_committed: bool = True
    restores_to_end: bool = True
    notes_restoration: bool = False
    buffers_writes: bool = False


STREAMS_4_3: Final = Rules()
STREAMS_3_9: Final = Rules(OffsetsIn.CHECKPOINT, notes_restoration=True)
TRANSACTIONAL_STORES: Final = Rules(forgets_loaded=False, buffers_writes=True)


def decide_start(rules: Rules, *, has_files: bool, offset: int | None, is_marked_open: bool = False) -> Start:
    """Return what becomes of a store under exactly-once (``initializeStoreOffsetsFromCheckpoint``).

    Args:
        rules: The rules.
        has_files: Whether there is anything of the store on the disk.
        offset: Offset of the last changelog record in it, as far as that is known.
        is_marked_open: Whether the store is marked as open, which transactional stores never are: it was last written
            without transactions, and not closed (``AbstractColumnFamilyAccessor``).
    """
    if rules.buffers_writes and is_marked_open:
        return Start.REFUSE
    if offset is not None:
        return Start.RESTORE_REST
    return Start.WIPE if has_files and rules.wipes_unknown else Start.RESTORE_ALL
