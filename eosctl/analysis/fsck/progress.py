"""How far the check of a partition is after a segment, so that a later run continues there."""

from __future__ import annotations

import hashlib
from typing import Final, NamedTuple, Protocol

import msgspec

from eosctl.analysis.fsck.continuity import OffsetOrder, SeenEpochs, SequenceOrder
from eosctl.analysis.fsck.markers import BareMarkers
from eosctl.analysis.fsck.notes import Note
from eosctl.analysis.fsck.offsets_log import OffsetsLog
from eosctl.analysis.fsck.replicas import LogPrint
from eosctl.analysis.fsck.state_log import StateLog
from eosctl.storage.names import OFFSETS_TOPIC, STATE_TOPIC, Suffix
from eosctl.storage.producer_replay import ProducerReplay
from eosctl.storage.producer_snapshot import ProducerSnapshotEntry
from eosctl.storage.survey import PartitionFacts


class TransactionStart(NamedTuple):
    """The first batch of a producer's open transaction: its log, position in it, offset, and producer epoch."""

    file: str
    position: int
    offset: int
    epoch: int


class PartitionProgress(msgspec.Struct):
    """Everything that later segments of a partition are compared with.

    Attributes:
        log_end: Where the log ends so far.
        compared_to: Producer snapshots up to this offset have been compared.
        segments: Number of segments judged.
        is_in_full: Whether the log gives every producer's state from its start on.
        damaged_at: First offset that could not be read; None when all could.
        gap_end: Where the last gap ends.
        last_epoch: The newest leader epoch.
        notes: The findings so far.
        offsets, epochs, sequences, batches, bare_markers: What these checks have seen.
        producers: The producers of the replay, after a whole segment.
        open_transactions: Their open transactions, earliest first, after a whole segment.
        starts: Where open transactions start, by producer id.
        filled: Producers whose open transaction has records left.
        begun: Producers with a marker in view.
        states: The records of a partition of the transaction log; None for another topic.
        commits: The records of a partition of committed offsets; None for another topic.
    """

    log_end: int
    compared_to: int
    segments: int = 0
    is_in_full: bool = False
    damaged_at: int | None = None
    gap_end: int = 0
    last_epoch: int = -1
    notes: list[Note] = msgspec.field(default_factory=list)
    offsets: OffsetOrder = msgspec.field(default_factory=OffsetOrder)
    epochs: SeenEpochs = msgspec.field(default_factory=SeenEpochs)
    sequences: SequenceOrder = msgspec.field(default_factory=SequenceOrder)
    batches: LogPrint = msgspec.field(default_factory=LogPrint)
    bare_markers: BareMarkers = msgspec.field(default_factory=BareMarkers)
    producers: list[ProducerSnapshotEntry] = msgspec.field(default_factory=list)
    open_transactions: dict[int, int] = msgspec.field(default_factory=dict)
    starts: dict[int, TransactionStart] = msgspec.field(default_factory=dict)
    filled: set[int] = msgspec.field(default_factory=set)
    begun: set[int] = msgspec.field(default_factory=set)
    states: StateLog | None = None
    commits: OffsetsLog | None = None


def begin_progress(facts: PartitionFacts) -> PartitionProgress:
    """Return the progress before the first segment."""
    first = facts.segments[0].base_offset if facts.segments else 0
    seed = next((found for offset, found in facts.snapshots if offset == first and isinstance(found, list)), None)
    topic, number = facts.partition
    replay = ProducerReplay(seed or ())
    return PartitionProgress(
        log_end=first,
        compared_to=first,
        is_in_full=first == 0 or seed is not None,
        producers=list(replay.producers.values()),
        open_transactions=replay.open_transactions,
        states=StateLog({number}) if topic == STATE_TOPIC else None,
        commits=OffsetsLog() if topic == OFFSETS_TOPIC else None,
    )


class ProgressKeeper(Protocol):
    """Where progress is kept between runs."""

    def recall(self, directory: str, facts: PartitionFacts, log_start: int | None) -> PartitionProgress | None:
        """Return the progress that an earlier run made with the same files; None without any."""
        ...

    def wants(self, directory: str, facts: PartitionFacts, segments: int) -> bool:
        """Return whether progress after so many segments is to be kept."""
        ...

    def keep(self, directory: str, facts: PartitionFacts, log_start: int | None, progress: PartitionProgress) -> None:
        """Keep the progress after a segment."""
        ...


class NothingKept:
    """Keeps nothing: every run reads everything."""

    def recall(self, directory: str, facts: PartitionFacts, log_start: int | None) -> None:
        """Return None."""

    def wants(self, directory: str, facts: PartitionFacts, segments: int) -> bool:
        """Return False."""
        return False

    def keep(self, directory: str, facts: PartitionFacts, log_start: int | None, progress: PartitionProgress) -> None:
        """Forget it."""


NOTHING_KEPT: Final = NothingKept()


def basis_of(facts: PartitionFacts, log_start: int | None, segments: int, compared_to: int) -> bytes:
    """Return a digest of the files that progress depends on: it holds as long as they have the same prints.

    Args:
        facts: The partition, with the prints of its files.
        log_start: The log start offset in the checkpoint; None when it has none.
        segments: Number of segments judged, at least one.
        compared_to: The offset up to which snapshots were compared.
    """
    last = facts.segments[segments - 1].base_offset
    files = [
        (file.name, found)
        for file, found in facts.prints
        if file.offset <= (compared_to if file.suffix is Suffix.PRODUCER_SNAPSHOT else last)
    ]
    return hashlib.blake2b(msgspec.msgpack.encode((files, facts.epochs, log_start)), digest_size=16).digest()
