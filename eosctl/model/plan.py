"""Planned changes to a cluster, and their outcomes."""

from __future__ import annotations

import msgspec

from eosctl.model.transaction import TopicPartition, Transaction
from eosctl.model.verdict import Evidence


class MarkerPlan(msgspec.Struct, frozen=True):
    """One marker for one hanging transaction on one partition; `committed` is true for COMMIT, false for ABORT.

    `coordinator_epoch` is what the marker will carry: exactly what DescribeProducers reports for the producer, 0 where
    it reports -1. A higher value would make the partition refuse the coordinator's own later markers.
    `invisible_offsets` come out of the shadow of the last stable offset; `invisible_records` counts the data records
    among them, None where they were not read (those of the aborted transaction itself stay invisible).
    """

    cluster_id: str
    partition: TopicPartition
    leader_id: int
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    first_offset: int
    last_stable_offset: int | None
    invisible_offsets: int | None
    invisible_records: int | None
    cause: str
    explanation: str
    warnings: tuple[str, ...] = ()
    committed: bool = False
    evidence: tuple[Evidence, ...] = ()


class ChangeOutcome(msgspec.Struct, frozen=True):
    """The outcome of a change without further facts; `detail` is a sentence for display."""

    verified: bool
    detail: str


class MarkerOutcome(msgspec.Struct, frozen=True):
    """The outcome of a marker.

    `verified` means that the leader no longer lists the transaction and the LSO has moved.
    """

    plan: MarkerPlan
    last_stable_offset_before: int | None
    last_stable_offset_after: int | None
    verified: bool
    detail: str


class FencePlan(msgspec.Struct, frozen=True):
    """A new epoch for one transactional id: its coordinator aborts what is open and refuses the present producer.

    `transaction` is the id as its coordinator described it just before. `timeout_ms` is the stored one, which the
    fencing InitProducerId repeats: a coordinator keeps the timeout of the last one that it was sent.
    """

    cluster_id: str
    transaction: Transaction
    timeout_ms: int
    application: str
    consequence: str
    warnings: tuple[str, ...] = ()


class FenceOutcome(msgspec.Struct, frozen=True):
    """The outcome of a fence. `verified` means that the coordinator has a later epoch and no open transaction."""

    plan: FencePlan
    producer_id: int
    producer_epoch: int
    verified: bool
    detail: str
