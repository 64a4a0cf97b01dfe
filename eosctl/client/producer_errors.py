"""Classification of a transactional producer's errors: retry, abort the transaction, or give up."""

from __future__ import annotations

from enum import Enum
from typing import Final

from eosctl.client.outcome import AUTHORIZATION_CODES, error_for_code, known_error
from eosctl.errors import BrokerError, EosctlError
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode


class Severity(Enum):
    """The reaction of Kafka's producer to an error (`TransactionManager`)."""

    RETRIABLE = "retriable"
    ABORTABLE = "abortable"
    FATAL = "fatal"


class TransactionFailed(BrokerError):  # noqa: N818
    """A step of a transaction failed.

    Attributes:
        severity: Whether the transaction can be aborted and the producer can continue.
    """

    def __init__(self, what: str, why: str = "", next_step: str = "", *, error_code: int, severity: Severity) -> None:
        super().__init__(what, why, next_step, error_code=error_code)
        self.severity = severity


class ProducerFenced(TransactionFailed):
    """Another producer with the same transactional id has taken over, or the coordinator has ended the transaction."""


_FENCED: Final = frozenset({ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH})

_ABORTABLE_EVERYWHERE: Final = frozenset(
    {
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.OPERATION_NOT_ATTEMPTED,
        ErrorCode.TRANSACTION_ABORTABLE,
    }
)

_ABORTABLE: Final = {
    ApiKey.PRODUCE: _ABORTABLE_EVERYWHERE
    | {
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.INVALID_TXN_STATE,
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        ErrorCode.UNKNOWN_PRODUCER_ID,
        ErrorCode.INVALID_RECORD,
        ErrorCode.MESSAGE_TOO_LARGE,
        ErrorCode.RECORD_LIST_TOO_LARGE,
        ErrorCode.CORRUPT_MESSAGE,
    },
    ApiKey.TXN_OFFSET_COMMIT: _ABORTABLE_EVERYWHERE
    | {
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.FENCED_INSTANCE_ID,
        ErrorCode.GROUP_ID_NOT_FOUND,
        ErrorCode.STALE_MEMBER_EPOCH,
    },
    ApiKey.INIT_PRODUCER_ID: _ABORTABLE_EVERYWHERE
    | {
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    },
}


def classify_producer_error(api_key: ApiKey, error: ErrorCode) -> Severity:
    """Return how Kafka's Java producer (4.x) reacts to an error.

    Unlisted codes are abortable for Produce and AddPartitionsToTxn, and fatal for other APIs.
    """
    if error.retriable:
        return Severity.RETRIABLE
    if error in _ABORTABLE.get(api_key, _ABORTABLE_EVERYWHERE):
        return Severity.ABORTABLE
    if error in _FENCED or error in AUTHORIZATION_CODES:
        return Severity.FATAL
    known_fatal = {
        ErrorCode.INVALID_TXN_STATE,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        ErrorCode.UNSUPPORTED_VERSION,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT,
    }
    if api_key in (ApiKey.PRODUCE, ApiKey.ADD_PARTITIONS_TO_TXN) and error not in known_fatal:
        return Severity.ABORTABLE
    return Severity.FATAL


def producer_error(api_key: ApiKey, code: int, operation: str) -> EosctlError:
    """Return the exception for a failed step; `operation` identifies it, e.g. `EndTxn of payments`."""
    error = known_error(code)
    if error in AUTHORIZATION_CODES:
        return error_for_code(code, operation, api_key=api_key)
    severity = classify_producer_error(api_key, error)
    what = f"{operation}: {error.name}"
    if error in _FENCED:
        return ProducerFenced(
            what,
            "A newer producer with this transactional id was initialized, or the transaction timed out.",
            "Stop this instance, or initialize it again if it should continue.",
            error_code=code,
            severity=severity,
        )
    return TransactionFailed(
        what, error.message, f"What it means: eosctl explain {error.name}.", error_code=code, severity=severity
    )
