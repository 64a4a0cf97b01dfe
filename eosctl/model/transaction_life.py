"""Transactions with the verdicts on them, their steps, and their producers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from eosctl.model.evidence import EvidenceGap
from eosctl.model.hang import HangStatus, TransactionVerdict
from eosctl.model.history import TransactionLogEntry
from eosctl.model.transaction import PartitionProducers, ProducerState, TopicPartition, Transaction


class JudgedTransaction(NamedTuple):
    """A transaction, and the verdict on it; None when nothing is open."""

    transaction: Transaction
    verdict: TransactionVerdict | None

    @property
    def age_ms(self) -> int | None:
        """Return the age in milliseconds; None when nothing is open, or when it is not known."""
        return None if self.verdict is None else self.verdict.age_ms


class KnownProducer(NamedTuple):
    """A producer as a partition's leader knows it, and the transaction of its id; None if none is listed."""

    where: PartitionProducers
    state: ProducerState
    owner: Transaction | None


class TransactionLife(NamedTuple):
    """A transactional id, its partition of the transaction log, its producers, and its last steps, oldest first."""

    judged: JudgedTransaction
    log_partition: int | None
    producers: tuple[KnownProducer, ...]
    steps: tuple[TransactionLogEntry, ...]


class WatchedTransaction(msgspec.Struct, frozen=True):
    """An open or hanging transaction, as live views show it.

    `transactional_id` is empty if no coordinator knows the producer id; `state` is the coordinator's state of the id.
    `partitions` are those of the transaction; of a hanging one, the partition where it hangs, with `first_offset`.
    `hidden_offsets` lie between LSO and high watermark on them. `groups` wait for it. `age_ms` is None without a
    reliable start; `idle_ms` is then the time since its last record by the producer's clock, so that it is older.
    """

    transactional_id: str
    state: str
    producer_id: int
    producer_epoch: int
    age_ms: int | None
    timeout_ms: int
    partitions: tuple[TopicPartition, ...]
    hidden_offsets: int
    status: str
    explanation: str = ""
    groups: tuple[str, ...] = ()
    first_offset: int | None = None
    idle_ms: int | None = None

    @property
    def is_hanging(self) -> bool:
        """Return whether no coordinator will ever end it."""
        return self.status == HangStatus.HANGING


class WatchedBroker(msgspec.Struct, frozen=True):
    """A broker with its transactions: those that it coordinates, and whether it answers."""

    node_id: int
    state: str
    coordinated_count: int


class Moment(msgspec.Struct, frozen=True):
    """One reading: what is open, the worst and oldest first, and how much the cluster hides from readers.

    `unowned_count` counts the transactions that are open at a leader and in no coordinator, hanging or undecided.
    `unread` names what could not be read, a sentence for each of `gaps`. `are_groups_read` is false if groups were left
    out because nothing is in doubt or open for long; then no transaction names the groups that wait for it. The next
    reading begins `pause_ms` after this one; `is_slowed_down` if that is longer because readings are expensive.
    """

    at_ms: int
    id_count: int
    hidden_offsets: int
    transactions: Sequence[WatchedTransaction]
    unowned_count: int
    gap_count: int
    cluster_id: str = ""
    controller_id: int | None = None
    brokers: tuple[WatchedBroker, ...] = ()
    unread: tuple[str, ...] = ()
    gaps: tuple[EvidenceGap, ...] = ()
    are_groups_read: bool = True
    pause_ms: int = 0
    is_slowed_down: bool = False
