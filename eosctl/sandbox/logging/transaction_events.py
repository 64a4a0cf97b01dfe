"""Log lines of a transaction coordinator (`kafka.coordinator.transaction`); the same from 2.5 to 4.3."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from eosctl.model.transaction import TopicPartition, TransactionState
from eosctl.sandbox.coordinator.transaction.metadata import TransactionMetadata
from eosctl.sandbox.logging.event_log import WARN, EventLog
from eosctl.sandbox.logging.rendering import exception_class, scala_set, state_name, transition
from eosctl.sandbox.ports import TRANSACTION_STATE_TOPIC
from eosctl.wire.error_codes import ErrorCode

_PACKAGE: Final = "kafka.coordinator.transaction"
COORDINATOR: Final = f"{_PACKAGE}.TransactionCoordinator"
STATE_MANAGER: Final = f"{_PACKAGE}.TransactionStateManager"
MARKER_CHANNEL: Final = f"{_PACKAGE}.TransactionMarkerChannelManager"
MARKER_HANDLER: Final = f"{_PACKAGE}.TransactionMarkerRequestCompletionHandler"

_CANCELLED: Final = frozenset(
    {
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.PRODUCER_FENCED,
        ErrorCode.CONCURRENT_TRANSACTIONS,
    }
)
"""Errors of a rollback that another client has ended already; Kafka logs them only at DEBUG."""


class TransactionEvents:
    """Log lines of a broker's transaction coordinator."""

    def __init__(self, log: EventLog, broker_id: int, *, is_3_9: bool) -> None:
        self._log = log
        self._is_3_9 = is_3_9
        self._coordinator = f"[TransactionCoordinator id={broker_id}]"
        self._manager = f"[Transaction State Manager {broker_id}]:"
        self._channel = f"[Transaction Marker Channel Manager {broker_id}]:"
        self._handler = f"[Transaction Marker Request Completion Handler {broker_id}]:"

    # --- requests -----------------------------------------------------------------------------------------------

    def initialized(
        self, transactional_id: str, producer_id: int, producer_epoch: int, partition_index: int, error: ErrorCode
    ) -> None:
        """Log that an InitProducerId was written to the state log, or failed."""
        if error:
            text = f"Returning {error.name} error code to client for {transactional_id}'s InitProducerId request"
        else:
            text = (
                f"Initialized transactionalId {transactional_id} with producerId {producer_id} and producer epoch "
                f"{producer_epoch} on partition {TRANSACTION_STATE_TOPIC}-{partition_index}"
            )
        self._log.write(COORDINATOR, f"{self._coordinator} {text}")

    def rolled_back(self, transactional_id: str, error: ErrorCode) -> None:
        """Log that a transaction was aborted after its timeout, or that the abort failed."""
        rollback = f"ollback of ongoing transaction for transactionalId {transactional_id}"
        if not error:
            self._log.write(COORDINATOR, f"{self._coordinator} Completed r{rollback} due to timeout")
        elif error not in _CANCELLED:
            self._log.write(
                COORDINATOR, f"{self._coordinator} R{rollback} failed due to error {error.name}", level=WARN
            )

    def end_refused(self, transactional_id: str, state: TransactionState, committed: bool) -> None:
        """Log that a client requested another outcome than the prepared one; only 4.x logs it."""
        if not self._is_3_9:
            self._log.write(
                COORDINATOR,
                f"{self._coordinator} TransactionalId: {transactional_id}'s state is {state.name}, but received "
                f"transaction marker result to send: {'COMMIT' if committed else 'ABORT'}",
                level=WARN,
            )

    def end_not_written(self, following: TransactionMetadata, coordinator_epoch: int, error: ErrorCode) -> None:
        """Log that the outcome of a transaction could not be written, so no markers are sent."""
        result = "COMMIT" if following.state is TransactionState.PREPARE_COMMIT else "ABORT"
        self._log.write(
            COORDINATOR,
            f"{self._coordinator} Aborting sending of transaction markers and returning {error.name} error to client "
            f"for {following.transactional_id}'s EndTransaction request of {result}, since appending "
            f"{transition(following, is_3_9=self._is_3_9)} to transaction log with coordinator epoch "
            f"{coordinator_epoch} failed",
        )

    # --- the state log ------------------------------------------------------------------------------------------

    def elected(self, partition_index: int, coordinator_epoch: int) -> None:
        """Log that this broker has become the coordinator of a partition."""
        self._log.write(
            COORDINATOR,
            f"{self._coordinator} Elected as the txn coordinator for partition {partition_index} at epoch "
            f"{coordinator_epoch}",
        )
        self._log.write(
            STATE_MANAGER,
            f"{self._manager} Loading transaction metadata from {TRANSACTION_STATE_TOPIC}-{partition_index} at epoch "
            f"{coordinator_epoch}",
        )

    def loaded(self, partition_index: int, coordinator_epoch: int, id_count: int, took_ms: int) -> None:
        """Log that a partition of the state log was loaded."""
        partition = f"{TRANSACTION_STATE_TOPIC}-{partition_index}"
        self._log.write(
            STATE_MANAGER,
            f"{self._manager} Finished loading {id_count} transaction metadata from {partition} in {took_ms} "
            "milliseconds, of which 0 milliseconds was spent in the scheduler.",
        )
        self._log.write(
            STATE_MANAGER,
            f"{self._manager} Completed loading transaction metadata from {partition} for coordinator epoch "
            f"{coordinator_epoch}",
        )

    def resigned(self, partition_index: int, leader_epoch: int | None, coordinator_epoch: int, id_count: int) -> None:
        """Log that this broker no longer coordinates a partition and unloaded `id_count` ids."""
        epoch = "None" if leader_epoch is None else f"Some({leader_epoch})"
        self._log.write(
            COORDINATOR,
            f"{self._coordinator} Resigned as the txn coordinator for partition {partition_index} at epoch {epoch}",
        )
        when = "on become-follower transition" if leader_epoch is not None else "following local partition deletion"
        self._log.write(
            STATE_MANAGER,
            f"{self._manager} Unloaded transaction metadata TxnMetadataCacheEntry("
            f"coordinatorEpoch={coordinator_epoch}, numTransactionalEntries={id_count}) for "
            f"{TRANSACTION_STATE_TOPIC}-{partition_index} {when}",
        )

    def not_written(self, following: TransactionMetadata, error: ErrorCode) -> None:
        """Log that a transition could not be written; the id is unchanged."""
        state = state_name(following.state, is_3_9=self._is_3_9)
        pending = f"Some({state})" if self._is_3_9 else f"Optional[{state}]"
        self._log.write(
            STATE_MANAGER,
            f"{self._manager} TransactionalId {following.transactional_id} append transaction log for "
            f"{transition(following, is_3_9=self._is_3_9)} transition failed due to {error.name}, resetting pending "
            f"state from {pending}, aborting state transition and returning {error.name} in the callback",
        )

    # --- markers ------------------------------------------------------------------------------------------------

    def markers_skipped(self, transactional_id: str, partitions: Iterable[TopicPartition]) -> None:
        """Log that markers are skipped because their partitions have no leader."""
        self._log.write(
            MARKER_CHANNEL,
            f"{self._channel} Couldn't find leader endpoint for partitions {scala_set(partitions)} while trying to "
            f"send transaction markers for {transactional_id}, these partitions are likely deleted already and hence "
            "can be skipped",
        )

    def marker_retried(
        self, transactional_id: str, partition: TopicPartition, error: ErrorCode, coordinator_epoch: int
    ) -> None:
        """Log that a leader did not accept a marker and it is sent again."""
        self._log.write(
            MARKER_HANDLER,
            f"{self._handler} Sending {transactional_id}'s transaction marker for partition {partition} has failed "
            f"with error {exception_class(error)}, retrying with current coordinator epoch {coordinator_epoch}",
        )

    def marker_refused(
        self, transactional_id: str, partition: TopicPartition, error: ErrorCode, coordinator_epoch: int
    ) -> None:
        """Log that a leader rejected a marker permanently because another coordinator or producer is in charge."""
        self._log.write(
            MARKER_HANDLER,
            f"{self._handler} Sending {transactional_id}'s transaction marker for partition {partition} has "
            f"permanently failed with error {exception_class(error)} with the current coordinator epoch "
            f"{coordinator_epoch}; cancel sending any more transaction markers to the brokers",
        )
