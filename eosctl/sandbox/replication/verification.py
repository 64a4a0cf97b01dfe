"""The rules for verifying a transactional append with its coordinator first (KIP-890)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from eosctl.sandbox.log.producer_state import VerificationGuard
from eosctl.sandbox.replication.partition import Partition
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.records.batch import BatchHeader
from eosctl.wire.records.header import CONTROL, TRANSACTIONAL


class VerificationPolicy:
    """The setting `transaction.partition.verification.enable`, with the rules of each release.

    3.9 accepts any open transaction of the producer. 4.x requires one of the same epoch, and rejects an epoch known to
    be old without a request to the coordinator.
    """

    def __init__(self, enabled: Callable[[], bool], *, is_3_9: bool) -> None:
        self._enabled = enabled
        self._is_3_9 = is_3_9

    def is_needed(
        self, partition: Partition, producer_id: int, producer_epoch: int, *, adds_partition: bool = False
    ) -> bool:
        """Return whether an append of this producer must be verified with the coordinator.

        Clients that rely on the broker to add the partition (Produce 12) do so even if verification is disabled.
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
        """Return the guard of a verification, None if none is needed, or INVALID_PRODUCER_EPOCH.

        Source: `UnifiedLog.maybeStartTransactionVerification`.
        """
        if not self.is_needed(partition, producer_id, producer_epoch, adds_partition=adds_partition):
            return None
        producers = partition.log.producers
        if not self._is_3_9 and producers.is_fenced(producer_id, producer_epoch):
            return ErrorCode.INVALID_PRODUCER_EPOCH
        return producers.begin_verification(producer_id, producer_epoch, sequence, adds_partition=adds_partition)

    def is_missing(self, partition: Partition, header: BatchHeader, guard: object | None) -> bool:
        """Return whether a transactional batch lacks its required verification."""
        return (
            header.attributes & (TRANSACTIONAL | CONTROL) == TRANSACTIONAL
            and self.is_needed(partition, header.producer_id, header.producer_epoch)
            and not partition.log.producers.is_verified(header.producer_id, guard)
        )


NOT_VERIFIED: Final = (ErrorCode.INVALID_TXN_STATE, "Record was not part of an ongoing transaction")
