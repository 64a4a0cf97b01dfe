"""Anomalies of a history, with the events that prove them."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from eosctl.lab.history.events import Event


class Kind(StrEnum):
    """The kind of an anomaly, named as in Jepsen's Kafka tests where these have it."""

    ABORTED_READ = "aborted-read"
    EARLY_READ = "early-read"
    PHANTOM_READ = "phantom-read"
    INCONSISTENT_READ = "inconsistent-read"
    BACKWARD_READ = "backward-read"
    LOST_WRITE = "lost-write"
    DUPLICATE = "duplicate"
    TORN_TRANSACTION = "torn-transaction"
    BROKEN_SUM = "broken-sum"
    HANGING_TRANSACTION = "hanging-transaction"
    REAL_TIME_ORDER = "real-time-order"
    DEPENDENCY_CYCLE = "dependency-cycle"
    OFFSET_REGRESSION = "offset-regression"
    LOST_OFFSET = "lost-offset"
    ABORTED_OFFSET = "aborted-offset"
    UNSTABLE_OFFSET = "unstable-offset"
    EPOCH_REGRESSION = "epoch-regression"
    SHARED_PRODUCER_ID = "shared-producer-id"
    ZOMBIE_COMMIT = "zombie-commit"
    WATERMARK_ORDER = "watermark-order"
    WATERMARK_REGRESSION = "watermark-regression"
    LOG_DIVERGENCE = "log-divergence"
    BROKEN_ISR = "broken-isr"
    INCOMPLETE_REPLICA = "incomplete-replica"
    STORE_DIVERGENCE = "store-divergence"
    STALE_STORE = "stale-store"
    WRONG_RESTORATION = "wrong-restoration"


MEANING: dict[Kind, str] = {
    Kind.ABORTED_READ: "a reader of committed data received a value of an aborted transaction",
    Kind.EARLY_READ: "a reader of committed data received a value before its commit was requested",
    Kind.PHANTOM_READ: "a reader received a value that no producer had sent",
    Kind.INCONSISTENT_READ: "one offset of a partition was read with two values",
    Kind.BACKWARD_READ: "a reader that only moves forward received an offset again or an earlier one",
    Kind.LOST_WRITE: "an acknowledged value that is committed was never given to a reader of everything",
    Kind.DUPLICATE: "one fact was given to readers of committed data at two offsets",
    Kind.TORN_TRANSACTION: "a part of a transaction is visible, another acknowledged part is not",
    Kind.BROKEN_SUM: "what a transfer takes from one account and gives to another is not both visible",
    Kind.HANGING_TRANSACTION: "readers of committed data cannot reach the end though every transaction has ended",
    Kind.REAL_TIME_ORDER: "a value lies before one that had been acknowledged before it was sent",
    Kind.DEPENDENCY_CYCLE: "transactions were given each other's values in a circle (G1c)",
    Kind.OFFSET_REGRESSION: "a group's committed offset went back",
    Kind.LOST_OFFSET: "a group's offset lies below what a committed transaction had set",
    Kind.ABORTED_OFFSET: "a group's offset is one that only aborted transactions set",
    Kind.UNSTABLE_OFFSET: "a stable offset was shown before its commit was requested",
    Kind.EPOCH_REGRESSION: "a producer got an identity that is not newer than one given out before it asked",
    Kind.SHARED_PRODUCER_ID: "two transactional ids have the same producer id",
    Kind.ZOMBIE_COMMIT: "a producer that had a successor for sure began to commit a transaction, and succeeded",
    Kind.WATERMARK_ORDER: "log start <= last stable offset <= high watermark <= log end does not hold",
    Kind.WATERMARK_REGRESSION: "high watermark or last stable offset of a leader went back within its epoch",
    Kind.LOG_DIVERGENCE: "two replicas hold different records below both high watermarks",
    Kind.BROKEN_ISR: "a leader's ISR is empty or lacks the leader, or two brokers lead in one epoch",
    Kind.INCOMPLETE_REPLICA: "a new leader, or one that was in sync, lacks what lay below a leader's high watermark",
    Kind.STORE_DIVERGENCE: "a state store holds something else than what is committed in its changelog",
    Kind.STALE_STORE: "a restored state store lacks changes that had been committed before",
    Kind.WRONG_RESTORATION: "a state store restored another number of records than its changelog has behind its offset",
}


class Anomaly(NamedTuple):
    """An anomaly with its witness: the necessary events, in order."""

    kind: Kind
    subject: str
    witness: tuple[Event, ...]

    def __str__(self) -> str:
        return f"{self.kind}: {self.subject}"


def in_order(*events: Event) -> tuple[Event, ...]:
    """Return events in time order; simultaneous ones in the given order."""
    return tuple(sorted(events, key=lambda event: event.at_ms))
