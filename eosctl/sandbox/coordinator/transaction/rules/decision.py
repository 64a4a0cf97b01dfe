"""What a rule decides: answer at once, or write the next value and answer when it is durable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from eosctl.sandbox.coordinator.transaction.metadata import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, TransactionMetadata
from eosctl.wire.error_codes import ErrorCode

NewProducerId = Callable[[], int | None]
"""Hands out an unused producer id, or None while the next block is on its way."""


class Answer(msgspec.Struct, frozen=True, gc=False):
    """Nothing is written; producer id and epoch are filled where the API returns them."""

    error: ErrorCode
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH


class Transition(msgspec.Struct, frozen=True, gc=False):
    """The value to write to the state log; it takes effect once written.

    `fenced` is the value that takes effect at once, before the write (a fenced epoch below transaction.version 2); when
    the write fails it stays, so the next attempt must not bump again (Kafka's `hasFailedEpochFence`).
    """

    next: TransactionMetadata
    fenced: TransactionMetadata | None = None


class Abort(msgspec.Struct, frozen=True, gc=False):
    """The open transaction has to be aborted by the coordinator first; the client hears 51 and comes again."""


Decision = Answer | Transition

OK: Final = Answer(ErrorCode.NONE)
CONCURRENT: Final = Answer(ErrorCode.CONCURRENT_TRANSACTIONS)
FENCED: Final = Answer(ErrorCode.PRODUCER_FENCED)
UNKNOWN_MAPPING: Final = Answer(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
INVALID_STATE: Final = Answer(ErrorCode.INVALID_TXN_STATE)
NO_PRODUCER_ID_YET: Final = Answer(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
"""Kafka answers 14 when a producer id is needed and the next block has not arrived."""
UNEXPECTED: Final = Answer(ErrorCode.UNKNOWN_SERVER_ERROR)
"""Where Kafka throws IllegalStateException."""
