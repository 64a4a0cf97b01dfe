"""The decision of a rule: respond immediately, or write the next value and respond when it is durable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from eosctl.sandbox.coordinator.transaction.metadata import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, TransactionMetadata
from eosctl.wire.error_codes import ErrorCode

NewProducerId = Callable[[], int | None]
"""Returns an unused producer id, or None while the next block is in transit."""


class Answer(msgspec.Struct, frozen=True, gc=False):
    """A response without a write; producer id and epoch are set if the API returns them."""

    error: ErrorCode
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH


class Transition(msgspec.Struct, frozen=True, gc=False):
    """The value to write to the state log; it takes effect once written.

    `fenced` takes effect immediately, before the write (a fenced epoch below transaction.version 2). It stays if the
    write fails, so that the next attempt does not bump again (Kafka's `hasFailedEpochFence`).
    """

    next: TransactionMetadata
    fenced: TransactionMetadata | None = None


class Abort(msgspec.Struct, frozen=True, gc=False):
    """The coordinator must abort the open transaction first; the client gets error 51 and retries."""


Decision = Answer | Transition

OK: Final = Answer(ErrorCode.NONE)
CONCURRENT: Final = Answer(ErrorCode.CONCURRENT_TRANSACTIONS)
FENCED: Final = Answer(ErrorCode.PRODUCER_FENCED)
UNKNOWN_MAPPING: Final = Answer(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
INVALID_STATE: Final = Answer(ErrorCode.INVALID_TXN_STATE)
NO_PRODUCER_ID_YET: Final = Answer(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
"""Kafka returns error 14 when a producer id is needed and the next block has not arrived."""
UNEXPECTED: Final = Answer(ErrorCode.UNKNOWN_SERVER_ERROR)
"""Kafka throws an IllegalStateException."""
