"""The seams inside the sandbox: what a room of it may ask of another.

Everything runs in one thread. A callback is called exactly once, possibly before the call that took it returns. Time
and chance come from `Runtime`; nothing in the sandbox reads a clock or a random source of its own.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol, runtime_checkable

import msgspec

from eosctl.model.transaction import ProducerState, TopicPartition
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.records.batch import BatchHeader

TRANSACTION_STATE_TOPIC: Final = "__transaction_state"
CONSUMER_OFFSETS_TOPIC: Final = "__consumer_offsets"
METADATA_TOPIC: Final = "__cluster_metadata"
FIRST_CONTROLLER_ID: Final = 100  # of controllers that are nodes of their own


class Timer(Protocol):
    """A call that is due later."""

    def cancel(self) -> None:
        """Drop the call; harmless when it has happened."""


class Runtime(Protocol):
    """Time, chance and the tick of one broker (or controller)."""

    random: random.Random

    def now_ms(self) -> int:
        """Return this node's wall clock, ms since the epoch (skewable per node, virtual in simulation)."""

    def call_later(self, delay_ms: float, call: Callable[[], None]) -> Timer:
        """Run `call` after `delay_ms` unless the node stops or the timer is cancelled first."""

    def call_soon(self, call: Callable[[], None]) -> None:
        """Run `call` at the end of the current tick, after all frames of this read were handled."""


class AppendResult(msgspec.Struct, frozen=True, gc=False):
    """The outcome of appending one batch.

    Offsets are -1 on error, `append_time_ms` is -1 unless the topic has LogAppendTime or the batch was a duplicate.
    """

    error: ErrorCode
    base_offset: int = -1
    last_offset: int = -1
    append_time_ms: int = -1
    log_start_offset: int = -1
    message: str | None = None


class PartitionLeadership(msgspec.Struct, frozen=True, gc=False):
    """Who leads a partition; `leader_id` -1 without a leader."""

    leader_id: int
    leader_epoch: int


class MetadataView(Protocol):
    """The cluster as this broker has replayed it from the metadata log."""

    @property
    def topics(self) -> Mapping[str, Any]:
        """All topics by name."""

    def leadership(self, partition: TopicPartition) -> PartitionLeadership | None:
        """Return leader and epoch, or None when the partition does not exist."""

    def partition_count(self, topic: str) -> int:
        """Return the number of partitions, 0 when the topic does not exist."""

    def topic_id(self, topic: str) -> bytes | None:
        """Return the 16 bytes of the topic's id, or None."""

    def topic_name(self, topic_id: bytes) -> str | None:
        """Return the topic with this id, or None."""

    def partition_racks(self, topic: str) -> Sequence[Sequence[str]]:
        """Return the racks of each partition's replicas, in partition order; empty for an unknown topic."""

    def finalized_feature(self, name: str) -> int:
        """Return the finalized level (0 when absent), e.g. of `transaction.version`."""

    def group_settings(self, group_id: str) -> Mapping[str, str]:
        """Return a group's own settings, as `consumer.session.timeout.ms`; empty without any."""


class Replicas(Protocol):
    """The partitions that this broker hosts."""

    def append_internal(
        self,
        partition: TopicPartition,
        batch: bytes,
        done: Callable[[AppendResult], None],
        *,
        timeout_ms: int = 5000,
        guard: object | None = None,
    ) -> None:
        """Append a coordinator's batch as leader with acks=all; `done` when the high watermark passes it or it fails.

        Errors: NOT_LEADER_OR_FOLLOWER, NOT_ENOUGH_REPLICAS(_AFTER_APPEND), REQUEST_TIMED_OUT, KAFKA_STORAGE_ERROR.
        Batches of a transactional producer (offset commits) go through producer-state checks without sequences; one
        that opens a transaction must show the `guard` of its verification (INVALID_TXN_STATE otherwise). `done` calls
        of one partition come in offset order, before `marker_written` of a later marker.
        """

    def append_entries(
        self,
        partition: TopicPartition,
        entries: Sequence[tuple[bytes, bytes | None]],
        done: Callable[[AppendResult], None],
        *,
        timeout_ms: int,
    ) -> None:
        """Append keys and values (None: a tombstone) as one batch of a coordinator's state, with acks=all.

        They get the time of the append. `done` and errors are those of `append_internal`.
        """

    def begin_verification(
        self, partition: TopicPartition, producer_id: int, producer_epoch: int, *, adds_partition: bool = False
    ) -> object | ErrorCode | None:
        """Return the guard to append with after TransactionHooks agreed, None when no verification is needed.

        INVALID_PRODUCER_EPOCH when the partition knows a later epoch of the producer (4.x).

        None when it is switched off (`transaction.partition.verification.enable`) and the client does not leave it to
        the broker to add the partition (`adds_partition`: TxnOffsetCommit 5 and up), when this broker does not lead the
        partition (the append will say so), or when the partition holds an open transaction of the producer (4.x: of
        this epoch).
        """

    def append_marker(
        self,
        partition: TopicPartition,
        producer_id: int,
        producer_epoch: int,
        committed: bool,
        coordinator_epoch: int,
        transaction_version: int,
        done: Callable[[AppendResult], None],
    ) -> None:
        """Append an end-transaction marker as leader; `done` when replicated (acks=all).

        Errors besides those above: INVALID_PRODUCER_EPOCH, TRANSACTION_COORDINATOR_FENCED, UNKNOWN_TOPIC_OR_PARTITION.
        """

    def read_all(self, partition: TopicPartition) -> Iterator[tuple[BatchHeader, bytes]]:
        """Iterate (header, batch bytes) of the local log from its start to its end, for loading a coordinator."""

    def active_producers(self, partition: TopicPartition) -> Sequence[ProducerState] | ErrorCode:
        """Return what the local replica (leader or follower) knows of every producer, for DescribeProducers.

        Errors: NOT_LEADER_OR_FOLLOWER when the partition exists but is not hosted here, UNKNOWN_TOPIC_OR_PARTITION,
        KAFKA_STORAGE_ERROR.
        """

    def log_end_offset(self, partition: TopicPartition) -> int:
        """Return the local log end offset; raises KeyError for a partition that is not hosted here."""


class Channel(Protocol):
    """Requests from this broker to another node (or itself), over links on which faults may act."""

    def send(
        self,
        node_id: int,
        api_key: int,
        version: int,
        message: Any,
        done: Callable[[Any | None], None],
        *,
        timeout_ms: int = 30_000,
    ) -> None:
        """Send a request; `done` gets the response, or None when the link broke or timed out."""

    def send_to_controller(
        self, api_key: int, version: int, message: Any, done: Callable[[Any | None], None], *, timeout_ms: int = 30_000
    ) -> None:
        """Send a request to the active controller; None when there is none or it did not answer."""


class Reply(Protocol):
    """Answers one request; must be called exactly once (never for acks=0 produce)."""

    def __call__(self, response: Any | None, /) -> None:
        """Send the response message; None closes the connection."""


@runtime_checkable
class ClientReply(Reply, Protocol):
    """A reply to a client's connection, which waits for an answer or for the notice that none will come."""

    def without_answer(self) -> None:
        """End a request without an answer (acks=0)."""


class RequestContext(msgspec.Struct, frozen=True):
    """What a handler knows about the request besides its body."""

    api_key: int
    api_version: int
    client_id: str
    client_host: str
    principal: str
    listener: str
    from_broker: bool
    reply: Reply


class TransactionHooks(Protocol):
    """What the replica manager asks of the transaction coordinators before a transactional append (KIP-890)."""

    def verify_partition(
        self,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partition: TopicPartition,
        *,
        add_partition: bool,
        done: Callable[[ErrorCode], None],
        knows_abortable: bool = True,
    ) -> None:
        """Ask the coordinator whether the partition belongs to its open transaction, or add it (`add_partition`).

        Adding is for Produce 12+ and TxnOffsetCommit 5+; requests are AddPartitionsToTxn 4+, batched per node.

        `knows_abortable` is False for requests older than Produce 11 and TxnOffsetCommit 4: they get 48 for 120. `done`
        gets the code as the group coordinator expects it; Produce passes it through
        `coordinator.transaction.verification.produce_error` (retriable codes become NOT_ENOUGH_REPLICAS). Whether
        verification is enabled and needed is the caller's to decide.
        """


class CoordinatorHooks(Protocol):
    """What the replica manager and metadata replay tell a coordinator (transactions or groups)."""

    def become_leader(self, partition_index: int, leader_epoch: int) -> None:
        """Start loading a partition of the coordinator's internal topic; requests answer 14 until done."""

    def resign(self, partition_index: int, leader_epoch: int | None) -> None:
        """Forget everything of that partition; requests answer 16 from now on."""

    def marker_written(self, partition_index: int, producer_id: int, producer_epoch: int, committed: bool) -> None:
        """A transaction marker reached the internal topic's partition (group coordinator: materialise or drop)."""


class BrokerConfig(Protocol):
    """Typed access to this broker's effective settings by Kafka's names (static, dynamic, default)."""

    def get_int(self, name: str) -> int:
        """Return an integer setting."""

    def get_bool(self, name: str) -> bool:
        """Return a boolean setting."""

    def get_str(self, name: str) -> str:
        """Return a text setting."""


class Emulation(NamedTuple):
    """Which Kafka this broker answers as."""

    release: str  # "3.9" or "4.3"
    unstable_api_versions: bool = False

    @property
    def is_3_9(self) -> bool:
        """Return whether the classic group coordinator and pre-4.0 rules apply."""
        return self.release == "3.9"


Partitions = Sequence[TopicPartition]
