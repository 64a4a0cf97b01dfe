"""Transactions, as coordinators and partition leaders report them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

import msgspec

#: Begin the topics, groups, and transactional ids of `eosctl verify` and of `eosctl capacity calibrate`.
VERIFY_PREFIX: Final = "eosctl-verify"
CALIBRATE_PREFIX: Final = "eosctl-calibrate"
NO_TIMEOUT_MS: Final = 2_147_483_647
"""The timeout of a transaction without one: a two-phase commit (KIP-939) stores Integer.MAX_VALUE."""


class TopicPartition(NamedTuple):
    """A partition, ordered by topic and index; printed as Kafka does (`orders-0`)."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


@lru_cache(maxsize=1 << 14)
def topic_partition(topic: str, partition: int) -> TopicPartition:
    """Return a cached partition object, for partitions that are used repeatedly."""
    return TopicPartition(topic, partition)


class TransactionState(StrEnum):
    """The coordinator's states, named as on the wire (Kafka's `TransactionState`)."""

    EMPTY = "Empty"
    ONGOING = "Ongoing"
    PREPARE_COMMIT = "PrepareCommit"
    PREPARE_ABORT = "PrepareAbort"
    COMPLETE_COMMIT = "CompleteCommit"
    COMPLETE_ABORT = "CompleteAbort"
    DEAD = "Dead"
    PREPARE_EPOCH_FENCE = "PrepareEpochFence"

    @property
    def is_prepared(self) -> bool:
        """Return whether the outcome is decided and markers may still be in transit."""
        return self in (TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT)

    @property
    def is_open(self) -> bool:
        """Return whether the coordinator still holds partitions for this transaction."""
        return self is TransactionState.ONGOING or self.is_prepared


class Transaction(msgspec.Struct, frozen=True, gc=False):
    """One transactional id as its coordinator describes it (ListTransactions, DescribeTransactions).

    `start_time_ms` is None when no transaction is open (the wire has -1); on 3.9 an id re-initialized after a
    transaction keeps the old start. In Prepare* states `partitions` holds only those whose marker is still missing.
    `state` is the text of the wire, so that a state of a newer broker survives. `described` is False when only the list
    entry is known.
    """

    transactional_id: str
    coordinator_id: int
    producer_id: int
    state: str
    producer_epoch: int = -1
    timeout_ms: int = -1
    start_time_ms: int | None = None
    partitions: tuple[TopicPartition, ...] = ()
    described: bool = True


class ProducerState(msgspec.Struct, frozen=True, gc=False):
    """A partition leader's state of a producer (DescribeProducers).

    `last_timestamp_ms` is the newest batch's timestamp, i.e. the client's clock under CreateTime. `coordinator_epoch`
    is -1 if no marker has been written for this producer. `current_txn_start_offset` is None without an open
    transaction.
    """

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp_ms: int
    coordinator_epoch: int
    current_txn_start_offset: int | None = None


class PartitionProducers(msgspec.Struct, frozen=True, gc=False):
    """The producers of one partition as its leader answered."""

    partition: TopicPartition
    broker_id: int
    producers: tuple[ProducerState, ...] = ()
    is_reported_hanging: bool = False


class TransactionLook(msgspec.Struct, frozen=True, dict=True):
    """One pass over all leaders and coordinators.

    The leaders are asked first and the coordinators afterwards, so a transaction that ends in between shows as
    open on the leader and gone at the coordinator: two readings are needed to call it hanging. Times are the
    observer's clock in ms since the epoch.
    """

    started_at_ms: int
    finished_at_ms: int
    producers: tuple[PartitionProducers, ...] = ()
    transactions: tuple[Transaction, ...] = ()

    def owners_of(self, producer_id: int) -> tuple[Transaction, ...]:
        """Return the transactions with a producer id: one as a rule, and several only after a bug (KAFKA-15552)."""
        shared = self._sharing.get(producer_id)
        if shared is not None:
            return shared
        owner = self._first_owners.get(producer_id)
        return () if owner is None else (owner,)

    @property
    def shared_producer_ids(self) -> Collection[int]:
        """Return the producer ids that several transactions have."""
        return self._sharing.keys()

    @cached_property
    def _first_owners(self) -> Mapping[int, Transaction]:
        # Of a million ids almost all are the only owner; a tuple for each would take half as much memory again.
        return {one.producer_id: one for one in reversed(self.transactions)}

    @cached_property
    def _sharing(self) -> Mapping[int, tuple[Transaction, ...]]:
        first = self._first_owners
        if len(first) == len(self.transactions):
            return {}
        found: dict[int, list[Transaction]] = {}
        for one in self.transactions:
            if first[one.producer_id] is not one:
                found.setdefault(one.producer_id, [first[one.producer_id]]).append(one)
        return {producer_id: tuple(owners) for producer_id, owners in found.items()}

    def with_ids(self, wanted: Collection[str]) -> Mapping[str, Transaction]:
        """Return the transactions of these transactional ids by id: an index of all would take 30 MB of a million."""
        if not wanted:
            return {}
        return {one.transactional_id: one for one in self.transactions if one.transactional_id in wanted}
