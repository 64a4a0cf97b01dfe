"""The history format: what clients did and saw, and what replicas showed, in the order in which it was noticed.

An operation that takes time has two events, its invocation and its outcome; an invocation without an outcome is one
whose end nobody knows. The order of events is real time: whatever stands before an invocation had happened.

Values are unique in a history: each was handed to a producer once. A value that is tried again (because the transaction
around it failed) is sent under a new name; `source` then says which fact both stand for.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from eosctl.model.transaction import TopicPartition


class Outcome(StrEnum):
    """How a transaction ended, as far as its application can know."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    UNKNOWN = "unknown"


class InitInvoked(NamedTuple):
    """A producer asks for its identity."""

    at_ms: int
    actor: str
    transactional_id: str


class Identified(NamedTuple):
    """A producer got its identity for what `actor` had last asked."""

    at_ms: int
    actor: str
    transactional_id: str
    producer_id: int
    producer_epoch: int


class SendInvoked(NamedTuple):
    """A producer sends a value; `transaction` is empty outside of transactions."""

    at_ms: int
    actor: str
    transaction: str
    partition: TopicPartition
    value: str
    source: str = ""


class Sent(NamedTuple):
    """The value was acknowledged at this offset."""

    at_ms: int
    actor: str
    partition: TopicPartition
    value: str
    offset: int


class OffsetsSent(NamedTuple):
    """A producer begins to commit a group's offset within a transaction."""

    at_ms: int
    actor: str
    transaction: str
    group: str
    partition: TopicPartition
    offset: int


class EndInvoked(NamedTuple):
    """A producer asks to end a transaction."""

    at_ms: int
    actor: str
    transaction: str
    committed: bool


class Ended(NamedTuple):
    """The application knows what became of a transaction, or that it cannot know."""

    at_ms: int
    actor: str
    transaction: str
    outcome: Outcome


class Polled(NamedTuple):
    """A reader of committed data was given a value; in the order of its positions unless it sought."""

    at_ms: int
    actor: str
    partition: TopicPartition
    offset: int
    value: str


class TransactionRead(NamedTuple):
    """Within a transaction its producer has read what is committed in a partition from `start` to below `end`.

    What it was given there are the `Polled` of the same actor before this event.
    """

    at_ms: int
    actor: str
    transaction: str
    partition: TopicPartition
    start: int
    end: int


class Drained(NamedTuple):
    """A reader has been given everything of a partition from its start, after all transactions had ended."""

    at_ms: int
    actor: str
    partition: TopicPartition


class Undrained(NamedTuple):
    """A reader could not reach the end of a partition, after all transactions had ended and long enough had passed."""

    at_ms: int
    actor: str
    partition: TopicPartition
    reached: int
    end: int


class OffsetAsked(NamedTuple):
    """Somebody asks for a group's stable committed offset."""

    at_ms: int
    actor: str
    group: str
    partition: TopicPartition


class OffsetFetched(NamedTuple):
    """A group's stable committed offset (`require_stable`); None when there is none.

    `is_stale` says that an outside observer knows better: the broker that answered had lost the group's partition and
    not heard of it. Kafka does not promise that such an answer is the newest, only that nothing can be committed there.
    """

    at_ms: int
    actor: str
    group: str
    partition: TopicPartition
    offset: int | None
    is_stale: bool = False


class ReplicaSeen(NamedTuple):
    """What one replica held; `incarnation` counts the starts of its broker. In sync replicas as the leader sees them.

    The last stable offset is what readers of committed data reach on a leader: never above the high watermark.
    """

    at_ms: int
    partition: TopicPartition
    broker_id: int
    incarnation: int
    is_leader: bool
    leader_epoch: int
    log_start_offset: int
    last_stable_offset: int
    high_watermark: int
    log_end_offset: int
    isr: tuple[int, ...]


class BatchSeen(NamedTuple):
    """One batch below a replica's high watermark, by the checksum of its records."""

    at_ms: int
    partition: TopicPartition
    broker_id: int
    base_offset: int
    checksum: int


class FaultBegan(NamedTuple):
    """Somebody began to disturb the cluster; `target` says whom or what, `number` which fault of the run it is."""

    at_ms: int
    number: int
    kind: str
    target: str


class FaultEnded(NamedTuple):
    """A fault is over: what it had done is put right."""

    at_ms: int
    number: int
    kind: str
    target: str


Event: TypeAlias = (
    InitInvoked
    | Identified
    | SendInvoked
    | Sent
    | OffsetsSent
    | EndInvoked
    | Ended
    | Polled
    | TransactionRead
    | Drained
    | Undrained
    | OffsetAsked
    | OffsetFetched
    | ReplicaSeen
    | BatchSeen
    | FaultBegan
    | FaultEnded
)
History: TypeAlias = Sequence[Event]
