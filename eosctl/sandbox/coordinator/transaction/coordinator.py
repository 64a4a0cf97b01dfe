"""The transaction coordinator of a broker: handles requests, writes state records and markers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.coordinator.transaction.marker_channel_manager import TransactionMarkerChannelManager
from eosctl.sandbox.coordinator.transaction.metadata import (
    DEAD,
    ONGOING,
    PREPARED,
    TWO_PHASE_COMMIT_TIMEOUT_MS,
    Partitions,
    TransactionMetadata,
    new_metadata,
)
from eosctl.sandbox.coordinator.transaction.producer_ids import ProducerIdManager
from eosctl.sandbox.coordinator.transaction.rules.decision import (
    INVALID_STATE,
    Abort,
    Answer,
    Decision,
    Transition,
)
from eosctl.sandbox.coordinator.transaction.rules.end_txn import (
    EPOCH_BUMP_VERSION,
    complete,
    decide_coordinator_abort,
    decide_end,
    decide_end_with_bump,
)
from eosctl.sandbox.coordinator.transaction.rules.expiration import NEVER_MS, is_expired, is_timed_out
from eosctl.sandbox.coordinator.transaction.rules.init_producer_id import Expected, decide_init_producer_id
from eosctl.sandbox.coordinator.transaction.rules.partitions import decide_add_partitions, verify_partitions
from eosctl.sandbox.coordinator.transaction.state_manager import (
    CachedTransaction,
    StatePartition,
    TransactionStateManager,
)
from eosctl.sandbox.logging.event_log import NO_LOG, EventLog
from eosctl.sandbox.logging.transaction_events import TransactionEvents
from eosctl.sandbox.ports import BrokerConfig, Channel, Emulation, MetadataView, Replicas, Runtime, Timer
from eosctl.sandbox.timing_wheel import Pace
from eosctl.wire.error_codes import NO_ERROR, ErrorCode

Reply = Callable[[Answer], None]


class TransactionCoordinator:
    """Applies the rules: find the id, decide, write, and respond once the record is durable.

    The rules reject requests for an id with a pending transition, so requests are never queued.
    """

    def __init__(
        self,
        *,
        runtime: Runtime,
        config: BrokerConfig,
        emulation: Emulation,
        metadata: MetadataView,
        replicas: Replicas,
        channel: Channel,
        producer_ids: ProducerIdManager,
        log: EventLog = NO_LOG,
        node_id: int = -1,
    ) -> None:
        self._runtime = runtime
        self._events = TransactionEvents(log, node_id, is_3_9=emulation.is_3_9)
        self._config = config
        self._emulation = emulation
        self._metadata = metadata
        self._producer_ids = producer_ids
        self.states = TransactionStateManager(
            runtime=runtime,
            config=config,
            emulation=emulation,
            metadata=metadata,
            replicas=replicas,
            loaded=self._finish_prepared,
            events=self._events,
        )
        self.markers = TransactionMarkerChannelManager(
            runtime=runtime,
            emulation=emulation,
            metadata=metadata,
            channel=channel,
            states=self.states,
            request_timeout_ms=config.get_int("request.timeout.ms"),
            events=self._events,
        )
        self._timers: dict[str, Timer] = {}

    def start(self) -> None:
        """Start the scans for timed-out transactions and expired ids."""
        self._every("transaction.abort.timed.out.transaction.cleanup.interval.ms", self.abort_timed_out)
        self._every("transaction.remove.expired.transaction.cleanup.interval.ms", self.remove_expired)

    def stop(self) -> None:
        """Stop the scans."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def _every(self, interval: str, scan: Callable[[], None]) -> None:
        def run() -> None:
            self._timers[interval] = self._runtime.call_later(self._config.get_int(interval), run, Pace.SCAN)
            scan()

        self._timers[interval] = self._runtime.call_later(self._config.get_int(interval), run, Pace.SCAN)

    def calm_until_ms(self) -> float:
        """Return the wall clock time before which no transaction times out; infinity without open transactions."""
        return min((partition.calm_until_ms for partition in self.states.loaded_partitions()), default=float("inf"))

    # --- leadership of the state topic's partitions

    def become_leader(self, partition_index: int, leader_epoch: int) -> None:
        """Start loading a partition of the state topic; until then requests for its ids get error 14."""
        self.states.become_leader(partition_index, leader_epoch)

    def resign(self, partition_index: int, leader_epoch: int | None) -> None:
        """Unload a partition of the state topic; requests for its ids get error 16 from now on."""
        if self.states.resign(partition_index, leader_epoch):
            self.markers.remove_partition(partition_index)

    def marker_written(self, partition_index: int, producer_id: int, producer_epoch: int, committed: bool) -> None:
        """Do nothing: the state topic contains no transactional records."""

    def _finish_prepared(self, partition: StatePartition) -> None:
        """Send the markers of transactions that the previous coordinator had prepared."""
        for cached in tuple(partition.transactions.values()):
            if cached.metadata.state in PREPARED:
                self.markers.add(cached, complete(cached.metadata, self._runtime.now_ms()))

    # --- InitProducerId

    def init_producer_id(
        self,
        transactional_id: str | None,
        timeout_ms: int,
        expected: Expected | None,
        reply: Reply,
        *,
        enable_two_phase_commit: bool = False,
        keep_prepared: bool = False,
    ) -> None:
        """Return a producer id and epoch; always new ones without a transactional id."""
        if transactional_id is None:
            reply(self._new_idempotent_producer())
            return
        error = self._refuse_init(transactional_id, timeout_ms, enable_two_phase_commit, keep_prepared)
        if error is not ErrorCode.NONE:
            reply(Answer(error))
            return
        if enable_two_phase_commit:
            timeout_ms = TWO_PHASE_COMMIT_TIMEOUT_MS
        cached = self.states.find(transactional_id)
        if cached is None:
            cached = self._meet(transactional_id, timeout_ms)
        if isinstance(cached, ErrorCode):
            reply(Answer(cached))
            return
        decision = decide_init_producer_id(
            cached.metadata,
            cached.pending,
            expected,
            timeout_ms=timeout_ms,
            now_ms=self._runtime.now_ms(),
            new_producer_id=self._producer_ids.next_id,
        )
        if isinstance(decision, Abort):
            self._abort(cached, partial(_reply_concurrent, reply))
        elif isinstance(decision, Transition):
            self._carry_out(cached, decision, partial(self._initialized, cached, reply))
        else:
            reply(decision)

    def _initialized(self, cached: CachedTransaction, reply: Reply, answer: Answer) -> None:
        transactional_id = cached.metadata.transactional_id
        index = cached.partition.index
        self._events.initialized(transactional_id, answer.producer_id, answer.producer_epoch, index, answer.error)
        reply(answer)

    def _new_idempotent_producer(self) -> Answer:
        producer_id = self._producer_ids.next_id()
        if producer_id is None:
            return Answer(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return Answer(ErrorCode.NONE, producer_id, 0)

    def _refuse_init(
        self, transactional_id: str, timeout_ms: int, enable_two_phase_commit: bool, keep_prepared: bool
    ) -> ErrorCode:
        if not transactional_id:
            return ErrorCode.INVALID_REQUEST
        if enable_two_phase_commit and not self._config.get_bool("transaction.two.phase.commit.enable"):
            return ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        if keep_prepared:  # Not implemented in 4.3.1 either.
            return ErrorCode.UNSUPPORTED_VERSION
        if not enable_two_phase_commit and not 0 < timeout_ms <= self._config.get_int("transaction.max.timeout.ms"):
            return ErrorCode.INVALID_TRANSACTION_TIMEOUT
        return ErrorCode.NONE

    def _meet(self, transactional_id: str, timeout_ms: int) -> CachedTransaction | ErrorCode:
        partition = self.states.partition_of(transactional_id)
        if isinstance(partition, ErrorCode):
            return partition
        producer_id = self._producer_ids.next_id()
        if producer_id is None:
            return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        return self.states.add(
            partition, new_metadata(transactional_id, producer_id, timeout_ms, self._runtime.now_ms())
        )

    # --- partitions

    def add_partitions(
        self,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partitions: Partitions,
        client_transaction_version: int,
        reply: Reply,
    ) -> None:
        """Add partitions to the open transaction, or start one; an empty set starts one without partitions."""
        cached = self._find_for_client(transactional_id)
        if isinstance(cached, ErrorCode):
            reply(Answer(cached))
            return
        decision = decide_add_partitions(
            cached.metadata,
            cached.pending,
            producer_id,
            producer_epoch,
            partitions,
            client_transaction_version=client_transaction_version,
            now_ms=self._runtime.now_ms(),
            pending_first=not self._emulation.is_3_9,
        )
        self._carry_out(cached, decision, reply)

    def verify(
        self, transactional_id: str, producer_id: int, producer_epoch: int, partitions: Iterable[TopicPartition]
    ) -> dict[TopicPartition, ErrorCode]:
        """Return for each partition whether it belongs to the producer's open transaction."""
        if not transactional_id:
            return dict.fromkeys(partitions, ErrorCode.INVALID_REQUEST)
        cached = self.states.find(transactional_id)
        if isinstance(cached, ErrorCode):
            return dict.fromkeys(partitions, cached)
        return verify_partitions(None if cached is None else cached.metadata, producer_id, producer_epoch, partitions)

    # --- ends

    def end_transaction(
        self,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        committed: bool,
        client_transaction_version: int,
        reply: Reply,
    ) -> None:
        """Commit or abort a transaction; respond when the outcome is durable. The markers follow."""
        cached = self._find_for_client(transactional_id)
        if isinstance(cached, ErrorCode):
            reply(Answer(cached))
            return
        decision: Decision
        if client_transaction_version >= EPOCH_BUMP_VERSION:
            decision = decide_end_with_bump(
                cached.metadata,
                cached.pending,
                producer_id,
                producer_epoch,
                committed,
                self._runtime.now_ms(),
                self._producer_ids.next_id,
            )
        else:
            decision = decide_end(
                cached.metadata, cached.pending, producer_id, producer_epoch, committed, self._runtime.now_ms()
            )
        if decision is INVALID_STATE:
            self._events.end_refused(transactional_id, cached.metadata.state, committed)
        self._carry_out(cached, decision, reply)

    def _abort(self, cached: CachedTransaction, reply: Reply) -> None:
        decision = decide_coordinator_abort(
            cached.metadata,
            transaction_version=self._metadata.finalized_feature("transaction.version"),
            has_failed_epoch_fence=cached.has_failed_epoch_fence,
            now_ms=self._runtime.now_ms(),
            new_producer_id=self._producer_ids.next_id,
        )
        self._carry_out(cached, decision, reply)

    # --- scans

    def abort_timed_out(self) -> None:
        """Abort every transaction that is open for longer than its timeout.

        Like Kafka, scan all transactions. Only a later start can make the earliest deadline earlier.
        """
        now_ms = self._runtime.now_ms()
        for partition in self.states.loaded_partitions():
            if now_ms <= partition.calm_until_ms:
                continue
            known = tuple(partition.transactions.values())
            partition.calm_until_ms = min(
                [cached.metadata.times_out_at_ms for cached in known if cached.metadata.state is ONGOING],
                default=NEVER_MS,
            )
            for cached in known:
                if is_timed_out(cached.metadata, cached.pending, now_ms):
                    self._abort(cached, partial(self._rolled_back, cached.metadata.transactional_id))

    def _rolled_back(self, transactional_id: str, answer: Answer) -> None:
        self._events.rolled_back(transactional_id, answer.error)

    def remove_expired(self) -> None:
        """Remove the ids that were idle for `transactional.id.expiration.ms`, with a tombstone each."""
        now_ms = self._runtime.now_ms()
        expiration_ms = self._config.get_int("transactional.id.expiration.ms")
        for partition in self.states.loaded_partitions():
            for cached in tuple(partition.transactions.values()):
                if is_expired(cached.metadata, cached.pending, now_ms, expiration_ms):
                    self.states.append_tombstone(cached, _ignore)

    # --- looking in

    def describe(self, transactional_id: str) -> TransactionMetadata | ErrorCode:
        """Return the state of an id; in a prepared state, list only the partitions without a marker."""
        if not transactional_id:
            return ErrorCode.INVALID_REQUEST
        cached = self.states.find(transactional_id)
        if isinstance(cached, ErrorCode):
            return cached
        if cached is None or cached.metadata.state is DEAD:
            return ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
        return cached.metadata

    def transactions(self) -> list[TransactionMetadata] | ErrorCode:
        """Return every id of this coordinator, or error 14 while a partition is loading."""
        if self.states.is_loading:
            return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        return [
            cached.metadata
            for partition in self.states.loaded_partitions()
            for cached in partition.transactions.values()
        ]

    # --- carrying decisions out

    def _find_for_client(self, transactional_id: str) -> CachedTransaction | ErrorCode:
        if not transactional_id:
            return ErrorCode.INVALID_REQUEST
        cached = self.states.find(transactional_id)
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING if cached is None else cached

    def _carry_out(self, cached: CachedTransaction, decision: Decision, reply: Reply) -> None:
        if isinstance(decision, Answer):
            reply(decision)
            return
        if decision.fenced is not None:
            cached.metadata = decision.fenced
        self.states.append(cached, decision.next, partial(self._written, cached, decision, reply))

    def _written(self, cached: CachedTransaction, transition: Transition, reply: Reply, error: ErrorCode) -> None:
        following = transition.next
        if error is not NO_ERROR:
            if transition.fenced is not None:
                cached.has_failed_epoch_fence = True
            if following.state in PREPARED:
                self._events.end_not_written(following, cached.partition.coordinator_epoch, error)
            reply(Answer(error))
        elif following.state in PREPARED:
            cached.has_failed_epoch_fence = False
            completed = complete(following, self._runtime.now_ms())
            reply(Answer(NO_ERROR, completed.producer_id, completed.producer_epoch))
            self.markers.add(cached, completed)
        else:
            reply(Answer(NO_ERROR, following.producer_id, following.producer_epoch))


def _reply_concurrent(reply: Reply, answer: Answer) -> None:
    reply(Answer(ErrorCode.CONCURRENT_TRANSACTIONS) if answer.error is ErrorCode.NONE else answer)


def _ignore(_: Any) -> None:
    """Ignore the result; the next scan tries again."""
