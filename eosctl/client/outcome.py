"""A broker's response, or the reason for its absence: partial failure as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeAlias, TypeVar

import msgspec

from eosctl.client.needed_rights import RESOURCES, needed_right
from eosctl.errors import (
    AuthenticationFailed,
    AuthorizationDenied,
    BrokerError,
    ClusterUnreachable,
    EosctlError,
    RequestTimedOut,
    UnsupportedByBroker,
)
from eosctl.model.evidence import GapReason
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode

T = TypeVar("T")

AUTHORIZATION_CODES: Final = frozenset({*RESOURCES, ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED})


class Failure(msgspec.Struct, frozen=True):
    """The reason why a broker, partition, group, or id has no result.

    `error_code` is NONE if no broker returned one.
    """

    reason: GapReason
    error: EosctlError
    error_code: ErrorCode = ErrorCode.NONE


Outcome: TypeAlias = T | Failure


def error_of(response: Any) -> ErrorCode:
    """Return the top-level error code of a response; NONE for APIs without one."""
    return known_error(getattr(response, "error_code", 0))


def any_error(response: Any) -> ErrorCode:
    """Return the first error code anywhere in a response, NONE without one.

    OPERATION_NOT_ATTEMPTED is returned only without any other error, since it is a consequence of one.
    """
    codes = [known_error(code) for code in _error_codes(response)]
    causes = [code for code in codes if code is not ErrorCode.OPERATION_NOT_ATTEMPTED]
    return next(iter(causes or codes), ErrorCode.NONE)


def _error_codes(message: Any) -> Iterator[int]:
    for name in message.__struct_fields__:
        value = getattr(message, name)
        if name.endswith("error_code"):
            if value:
                yield value
        elif isinstance(value, list | tuple):
            for item in value:
                if hasattr(item, "__struct_fields__"):
                    yield from _error_codes(item)


def may_appear(outcome: Outcome[int]) -> bool:
    """Return whether a coordinator that was not found may be there soon."""
    return isinstance(outcome, Failure) and known_error(outcome.error_code) in (
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    )


def known_error(code: int) -> ErrorCode:
    """Return Kafka's error for a code; unknown codes of a newer broker become UNKNOWN_SERVER_ERROR."""
    try:
        return ErrorCode(code)
    except ValueError:
        return ErrorCode.UNKNOWN_SERVER_ERROR


def error_for_code(code: int, operation: str, detail: str | None = None, api_key: ApiKey | None = None) -> EosctlError:
    """Return the exception for a broker's error code.

    Args:
        code: The code on the wire, not NONE.
        operation: The request, e.g. `ListTransactions on broker 2`.
        detail: The broker's own message, if it sent one.
        api_key: The request, from which a denial names the right that it needs; None if it is not one request.
    """
    error = known_error(code)
    what = f"{operation}: {error.name}"
    if error in AUTHORIZATION_CODES:
        return _denial(error, what, api_key)
    why = detail or error.message
    if error is ErrorCode.UNSUPPORTED_VERSION:
        return UnsupportedByBroker(what, why, "Do it with the tools of the broker's release, or upgrade.")
    if error is ErrorCode.SASL_AUTHENTICATION_FAILED:
        return AuthenticationFailed(what, why, "Check user and password.")
    return BrokerError(what, why, f"What it means: eosctl explain {error.name}.", error_code=code)


def _denial(error: ErrorCode, what: str, api_key: ApiKey | None) -> AuthorizationDenied:
    right = "" if api_key is None else needed_right(error, api_key)
    if not right:
        on = f" on {RESOURCES[error]}" if error in RESOURCES else ""
        return AuthorizationDenied(what, f"The principal lacks a right{on}.", "Grant it (kafka-acls) and try again.")
    return AuthorizationDenied(what, f"The principal lacks {right}.", f"Grant {right} (kafka-acls), and try again.")


def failure_for_code(code: int, operation: str, detail: str | None = None, api_key: ApiKey | None = None) -> Failure:
    """Return a broker's error code as a `Failure`."""
    error = error_for_code(code, operation, detail, api_key)
    return Failure(_reason_for_code(known_error(code)), error, known_error(code))


def failure_for_error(error: EosctlError) -> Failure:
    """Return a request's exception as a `Failure`."""
    match error:
        case RequestTimedOut():
            reason = GapReason.TIMED_OUT
        case ClusterUnreachable():
            reason = GapReason.UNREACHABLE
        case AuthenticationFailed():
            reason = GapReason.NOT_AUTHENTICATED
        case AuthorizationDenied():
            reason = GapReason.NOT_AUTHORIZED
        case UnsupportedByBroker():
            reason = GapReason.UNSUPPORTED
        case BrokerError():
            reason = _reason_for_code(known_error(error.error_code))
        case _:
            reason = GapReason.BROKER_ERROR
    code = known_error(error.error_code) if isinstance(error, BrokerError) else ErrorCode.NONE
    return Failure(reason, error, code)


def _reason_for_code(error: ErrorCode) -> GapReason:
    if error in AUTHORIZATION_CODES:
        return GapReason.NOT_AUTHORIZED
    match error:
        case ErrorCode.UNSUPPORTED_VERSION:
            return GapReason.UNSUPPORTED
        case ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            return GapReason.LOADING
        case ErrorCode.NOT_LEADER_OR_FOLLOWER | ErrorCode.LEADER_NOT_AVAILABLE:
            return GapReason.NO_LEADER
        case ErrorCode.REQUEST_TIMED_OUT:
            return GapReason.TIMED_OUT
        case _:
            return GapReason.BROKER_ERROR
