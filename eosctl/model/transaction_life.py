"""Transactions with the verdicts on them, their steps, and their producers."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from eosctl.model.hang import TransactionVerdict
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
    """An open transaction; `hidden_offsets` lie between LSO and high watermark on its partitions."""

    transactional_id: str
    state: str
    producer_id: int
    producer_epoch: int
    age_ms: int | None
    timeout_ms: int
    partitions: tuple[TopicPartition, ...]
    hidden_offsets: int
    status: str


class Moment(msgspec.Struct, frozen=True):
    """One reading: what is open, the oldest first, and how much the cluster hides from read_committed readers."""

    at_ms: int
    id_count: int
    hidden_offsets: int
    transactions: tuple[WatchedTransaction, ...]
    unowned_count: int
    gap_count: int
