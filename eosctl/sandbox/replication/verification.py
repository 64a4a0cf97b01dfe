"""When a transactional append must be verified with its coordinator first (KIP-890)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from eosctl.sandbox.log.producer_state import VerificationGuard
from eosctl.sandbox.replication.partition import Partition
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.records.batch import BatchHeader
from eosctl.wire.records.header import CONTROL, TRANSACTIONAL


class VerificationPolicy:
    """`transaction.partition.verification.enable` and what the release makes of it.

    3.9 is content with any open transaction of the producer; 4.x wants one of the same epoch, and refuses an epoch that
    the partition knows to be old before it asks the coordinator.
    """

    def __init__(self, enabled: Callable[[], bool], *, is_3_9: bool) -> None:
        self._enabled = enabled
        self._is_3_9 = is_3_9

    def is_needed(
        self, partition: Partition, producer_id: int, producer_epoch: int, *, adds_partition: bool = False
    ) -> bool:
        """Return whether the coordinator must be asked before an append of this producer.

        Clients that leave adding the partition to the broker (Produce 12) rely on it also where verification is off.
        """
        if not adds_partition and not self._enabled():
            return False
        epoch = None if self._is_3_9 else producer_epoch
        return not partition.log.producers.has_open_transaction(producer_id, epoch)

    def begin(
        self,
        partition: Partition,
        producer_id: int,
        producer_epoch: int,
        sequence: int,
        *,
        adds_partition: bool = False,
    ) -> VerificationGuard | ErrorCode | None:
        """Return the guard of a verification, None when none is needed, or INVALID_PRODUCER_EPOCH.

        Source: `UnifiedLog.maybeStartTransactionVerification`.
        """
        if not self.is_needed(partition, producer_id, producer_epoch, adds_partition=adds_partition):
            return None
        producers = partition.log.producers
        if not self._is_3_9 and producers.is_fenced(producer_id, producer_epoch):
            return ErrorCode.INVALID_PRODUCER_EPOCH
        return producers.begin_verification(producer_id, producer_epoch, sequence, adds_partition=adds_partition)

    def is_missing(self, partition: Partition, header: BatchHeader, guard: object | None) -> bool:
        """Return whether a transactional batch comes without the verification that it needs."""
        return (
            header.attributes & (TRANSACTIONAL | CONTROL) == TRANSACTIONAL
            and self.is_needed(partition, header.producer_id, header.producer_epoch)
            and not partition.log.producers.is_verified(header.producer_id, guard)
        )


NOT_VERIFIED: Final = (ErrorCode.INVALID_TXN_STATE, "Record was not part of an ongoing transaction")
