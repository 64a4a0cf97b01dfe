"""The history format: operations and observations of clients, and states of replicas, in order of occurrence.

An operation with a duration has two events, its invocation and its outcome. An invocation without an outcome has an
unknown result. The order of events is real time: all events before an invocation have happened.

Values are unique in a history: a producer receives each of them once. If a value is retried because its transaction
failed, it is sent under a new name; `source` then identifies the fact that both represent.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from eosctl.model.transaction import TopicPartition


class Outcome(StrEnum):
    """The outcome of a transaction, as far as its application can know it."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    UNKNOWN = "unknown"


class InitInvoked(NamedTuple):
    """A producer requests its producer id and epoch."""

    at_ms: int
    actor: str
    transactional_id: str


class Identified(NamedTuple):
    """A producer received its producer id and epoch, for the last request of `actor`."""

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
    """A value was acknowledged at this offset."""

    at_ms: int
    actor: str
    partition: TopicPartition
    value: str
    offset: int


class OffsetsSent(NamedTuple):
    """A producer starts to commit a group's offset within a transaction."""

    at_ms: int
    actor: str
    transaction: str
    group: str
    partition: TopicPartition
    offset: int


class EndInvoked(NamedTuple):
    """A producer requests to end a transaction."""

    at_ms: int
    actor: str
    transaction: str
    committed: bool


class Ended(NamedTuple):
    """The application knows the outcome of a transaction, or that it cannot know it."""

    at_ms: int
    actor: str
    transaction: str
    outcome: Outcome


class Polled(NamedTuple):
    """A read_committed consumer received a value, in the order of its positions unless it sought."""

    at_ms: int
    actor: str
    partition: TopicPartition
    offset: int
    value: str


class TransactionRead(NamedTuple):
    """Within a transaction, its producer has read the committed data of a partition from `start` to below `end`.

    The values are the `Polled` events of the same actor before this one.
    """

    at_ms: int
    actor: str
    transaction: str
    partition: TopicPartition
    start: int
    end: int


class Drained(NamedTuple):
    """A consumer has received everything of a partition from its start, after all transactions had ended."""

    at_ms: int
    actor: str
    partition: TopicPartition


class Undrained(NamedTuple):
    """A consumer could not reach the end of a partition in time, although all transactions had ended."""

    at_ms: int
    actor: str
    partition: TopicPartition
    reached: int
    end: int


class OffsetAsked(NamedTuple):
    """A client requests a group's stable committed offset."""

    at_ms: int
    actor: str
    group: str
    partition: TopicPartition


class OffsetFetched(NamedTuple):
    """A group's stable committed offset (`require_stable`); None without one.

    `is_stale` is set when an outside observer knows that the responding broker had lost the group's partition without
    being notified. Kafka does not guarantee that such a response is the newest, only that nothing can be committed
    there.
    """

    at_ms: int
    actor: str
    group: str
    partition: TopicPartition
    offset: int | None
    is_stale: bool = False


class ReplicaSeen(NamedTuple):
    """The state of a replica; `incarnation` counts the starts of its broker.

    The leader determines whether it is in sync.

    The last stable offset on a leader is what read_committed consumers can reach, never above the high watermark.
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
    """A batch below a replica's high watermark, with the checksum of its records."""

    at_ms: int
    partition: TopicPartition
    broker_id: int
    base_offset: int
    checksum: int


class StoreSeen(NamedTuple):
    """The state store of a Kafka Streams task, restored from a changelog partition.

    Attributes:
        at_ms: When it was seen.
        actor: The life of a process.
        partition: The changelog.
        moment: ``restored``, ``standby``, or ``closed``.
        start: What became of the store that the task found.
        began_at_ms: When the task was opened, or was promoted from a standby.
        kept_offset: Offset of the last change in the store that the task found; None if nothing was kept.
        offset: Offset of the last change in it.
        restored_count: Changes that were read from the changelog since it was found.
        content: Its numbers by key, such as ``a=1 b=2``.
    """

    at_ms: int
    actor: str
    partition: TopicPartition
    moment: str
    start: str
    began_at_ms: int
    kept_offset: int | None
    offset: int | None
    restored_count: int
    content: str


class FaultBegan(NamedTuple):
    """A fault started; `target` is the affected node or link, `number` identifies the fault in the run."""

    at_ms: int
    number: int
    kind: str
    target: str


class FaultEnded(NamedTuple):
    """A fault ended, and its effect was undone."""

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
    | StoreSeen
)
History: TypeAlias = Sequence[Event]
