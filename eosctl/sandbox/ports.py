"""Interfaces between the packages of the sandbox.

Everything runs in one thread. A callback is called exactly once, possibly before the call that received it returns.
Time and randomness come from `Runtime`; the sandbox reads no other clock or random source.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from eosctl.model.transaction import ProducerState, TopicPartition
from eosctl.sandbox.replies import Reply
from eosctl.sandbox.timing_wheel import Pace
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.records.batch import BatchHeader

TRANSACTION_STATE_TOPIC: Final = "__transaction_state"
CONSUMER_OFFSETS_TOPIC: Final = "__consumer_offsets"
SHARE_GROUP_STATE_TOPIC: Final = "__share_group_state"
METADATA_TOPIC: Final = "__cluster_metadata"
FIRST_CONTROLLER_ID: Final = 100  # Ids of controllers that are separate nodes.
CLUSTER_PRINCIPAL: Final = "User:CLUSTER"
"""The principal of brokers and controllers."""


class Envelope(NamedTuple):
    """The client of a request that a broker forwards (KIP-590)."""

    principal: str
    client_id: str
    client_host: str


class Timer(Protocol):
    """A scheduled call."""

    def cancel(self) -> None:
        """Cancel the call; no effect after it has run."""


class Runtime(Protocol):
    """Time, randomness, and the tick of a broker or controller."""

    random: random.Random
    token_bytes: Callable[[int], bytes]

    def now_ms(self) -> int:
        """Return this node's wall clock in milliseconds since the epoch (skewable per node, virtual in simulation)."""

    def call_later(self, delay_ms: float, call: Callable[[], None], pace: Pace = Pace.ACT) -> Timer:
        """Run `call` after `delay_ms` unless the node stops or the timer is cancelled first."""

    def call_soon(self, call: Callable[[], None]) -> None:
        """Run `call` at the end of the current tick, after all frames of this read."""


class AppendResult(msgspec.Struct, frozen=True, gc=False):
    """The outcome of appending a batch.

    Offsets are -1 on error. `append_time_ms` is -1 unless the topic uses LogAppendTime or the batch was a duplicate.
    """

    error: ErrorCode
    base_offset: int = -1
    last_offset: int = -1
    append_time_ms: int = -1
    log_start_offset: int = -1
    message: str | None = None


class PartitionLeadership(msgspec.Struct, frozen=True, gc=False):
    """A partition's leader and epochs; `leader_id` is -1 without a leader."""

    leader_id: int
    leader_epoch: int


class MetadataView(Protocol):
    """The cluster metadata that this broker has replayed from the metadata log."""

    @property
    def topics(self) -> Mapping[str, Any]:
        """Return all topics by name."""

    def leadership(self, partition: TopicPartition) -> PartitionLeadership | None:
        """Return leader and epoch, or None for an unknown partition."""

    def partition_count(self, topic: str) -> int:
        """Return the number of partitions, 0 for an unknown topic."""

    def topic_id(self, topic: str) -> bytes | None:
        """Return the topic's id (16 bytes), or None for an unknown topic."""

    def topic_name(self, topic_id: bytes) -> str | None:
        """Return the name of the topic with this id, or None."""

    def partition_racks(self, topic: str) -> tuple[tuple[str, ...], ...]:
        """Return the racks of each partition's replicas, in partition order; empty for an unknown topic."""

    def finalized_feature(self, name: str) -> int:
        """Return the finalized level of a feature such as `transaction.version`; 0 if absent."""

    def group_settings(self, group_id: str) -> Mapping[str, str]:
        """Return a group's own settings, such as `consumer.session.timeout.ms`."""


class Replicas(Protocol):
    """The partitions hosted by this broker."""

    def append_internal(
        self,
        partition: TopicPartition,
        batch: bytes,
        done: Callable[[AppendResult], None],
        *,
        timeout_ms: int = 5000,
        guard: object | None = None,
    ) -> None:
        """Append a coordinator's batch as leader with acks=all.

        `done` is called when the high watermark passes the batch or the append fails, with NOT_LEADER_OR_FOLLOWER,
        NOT_ENOUGH_REPLICAS(_AFTER_APPEND), REQUEST_TIMED_OUT, or KAFKA_STORAGE_ERROR. Batches of a transactional
        producer (offset commits) pass the producer-state checks without sequences. A batch that opens a transaction
        needs the `guard` of its verification (else INVALID_TXN_STATE). The `done` calls of a partition come in offset
        order, before `marker_written` of a later marker.
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

        Their timestamp is the append time. `done` and errors are those of `append_internal`.
        """

    def begin_verification(
        self, partition: TopicPartition, producer_id: int, producer_epoch: int, *, adds_partition: bool = False
    ) -> object | ErrorCode | None:
        """Return the verification guard for an append; None if no verification is needed.

        No verification is needed if it is disabled (`transaction.partition.verification.enable`) and the client does
        not rely on the broker to add the partition (`adds_partition`: TxnOffsetCommit 5+), if this broker does not lead
        the partition (the append fails then), or if the partition has an open transaction of the producer (4.x: of this
        epoch).

        Returns INVALID_PRODUCER_EPOCH when the partition knows a later epoch of the producer (4.x).
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
        """Append an end-transaction marker as leader; `done` is called when it is replicated (acks=all).

        Errors in addition to those of `append_internal`: INVALID_PRODUCER_EPOCH, TRANSACTION_COORDINATOR_FENCED,
        UNKNOWN_TOPIC_OR_PARTITION.
        """

    def read_all(self, partition: TopicPartition) -> Iterator[tuple[BatchHeader, bytes]]:
        """Yield header and bytes of each batch of the local log, for loading a coordinator."""

    def active_producers(self, partition: TopicPartition) -> Sequence[ProducerState] | ErrorCode:
        """Return the state of all producers in the local replica (leader or follower), for DescribeProducers.

        Errors: NOT_LEADER_OR_FOLLOWER if the partition exists but is not hosted here, UNKNOWN_TOPIC_OR_PARTITION,
        KAFKA_STORAGE_ERROR.
        """

    def log_end_offset(self, partition: TopicPartition) -> int:
        """Return the local log end offset.

        Raises:
            KeyError: The partition is not hosted here.
        """


class Channel(Protocol):
    """Requests from this broker to another node or itself, over links on which faults may act."""

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
        """Send a request; `done` receives the response, or None after a disconnect or timeout."""

    def send_to_controller(
        self,
        api_key: int,
        version: int,
        message: Any,
        done: Callable[[Any | None], None],
        *,
        timeout_ms: int = 30_000,
        envelope: Envelope | None = None,
    ) -> None:
        """Send a request to the active controller; `done` receives None without one or without a response.

        `envelope` is the client of a forwarded request.
        """


class RequestContext(msgspec.Struct, frozen=True):
    """Properties of a request other than its body."""

    api_key: int
    api_version: int
    client_id: str
    client_host: str
    principal: str
    listener: str
    from_broker: bool
    reply: Reply
    size_bytes: int = 0  # Of a client's request, header and body.

    @property
    def envelope(self) -> Envelope:
        """Return the client, for a request that is forwarded in its name."""
        return Envelope(self.principal, self.client_id, self.client_host)


class TransactionHooks(Protocol):
    """Queries of the replica manager to the transaction coordinators before a transactional append (KIP-890)."""

    def verify_partition(
        self,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partition: TopicPartition,
        *,
        add_partition: bool,
        done: Callable[[ErrorCode], None],
        renew: Callable[[], ErrorCode | None],
        knows_abortable: bool = True,
    ) -> None:
        """Verify that the partition belongs to the open transaction, or add it (`add_partition`).

        Partitions are added for Produce 12+ and TxnOffsetCommit 5+. Requests are AddPartitionsToTxn 4+, batched per
        node.

        `knows_abortable` is False for requests older than Produce 11 and TxnOffsetCommit 4, which receive 48 instead of
        120. `done` receives the code that the group coordinator expects; Produce converts it with
        `coordinator.transaction.verification.produce_error` (retriable codes become NOT_ENOUGH_REPLICAS). The caller
        decides whether verification is enabled and needed. `renew` is called before an addition is retried: it begins
        the verification at the leader again and returns None, or the code with which the verification ends.
        """


class CoordinatorHooks(Protocol):
    """Notifications of the replica manager and metadata replay to a transaction or group coordinator."""

    def become_leader(self, partition_index: int, leader_epoch: int) -> None:
        """Start loading a partition of the coordinator's internal topic; until then requests receive error 14."""

    def resign(self, partition_index: int, leader_epoch: int | None) -> None:
        """Unload that partition; requests receive error 16 from now on."""

    def marker_written(self, partition_index: int, producer_id: int, producer_epoch: int, committed: bool) -> None:
        """Apply a transaction marker of the internal topic's partition: materialize or drop pending offsets."""


class BrokerConfig(Protocol):
    """Typed access to this broker's effective settings (static, dynamic, default) by Kafka's names."""

    def get_int(self, name: str) -> int:
        """Return an integer setting."""

    def get_bool(self, name: str) -> bool:
        """Return a boolean setting."""

    def get_str(self, name: str) -> str:
        """Return a text setting."""


class Emulation(NamedTuple):
    """The Kafka release that this broker emulates."""

    release: str  # One of `model.emulation.RELEASES`.
    unstable_api_versions: bool = False
    client_telemetry: bool = False  # Whether a reporter receives the metrics of clients (KIP-714).

    @property
    def is_3_9(self) -> bool:
        """Return whether the classic group coordinator and the rules before 4.0 apply."""
        return self.release == "3.9"

    @property
    def is_before_4_4(self) -> bool:
        """Whether requests and messages that came with 4.4 are missing."""
        return self.release in ("3.9", "4.3")


Partitions = Sequence[TopicPartition]
