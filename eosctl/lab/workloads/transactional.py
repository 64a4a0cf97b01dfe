"""A transaction of an application, and its outcome as far as the application can know it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from enum import Enum

from eosctl.client.producer import TransactionalProducer
from eosctl.client.producer_errors import ProducerFenced, Severity, TransactionFailed
from eosctl.errors import AuthorizationDenied, BrokerError, ClusterUnreachable, EosctlError, RequestTimedOut
from eosctl.wire.error_codes import ErrorCode


class Fate(Enum):
    """The outcome of a transaction, as far as the application can know it."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    UNKNOWN = "unknown"


Step = Callable[[], Awaitable[None]]


async def attempt_transaction(producer: TransactionalProducer, work: Step, *, aborts: bool = False) -> Fate:
    """Run work in a transaction, end it, and prepare the producer for the next one.

    Args:
        producer: An initialized producer.
        work: Sends records and offsets.
        aborts: Abort at the end instead of committing.

    Raises:
        ProducerFenced: Another producer has taken over the id.
        AuthorizationDenied: The principal lacks a right; the transaction is aborted if that is possible.
        EosctlError: The producer cannot be initialized again after a failure.
    """
    try:
        await work()
    except AuthorizationDenied:
        with suppress(EosctlError):
            await producer.abort()
        raise
    except EosctlError as error:
        return await _give_up(producer, error, Fate.ABORTED)
    try:
        if aborts:
            await producer.abort()
            return Fate.ABORTED
        await producer.commit()
    except EosctlError as error:
        return await _give_up(producer, error, Fate.ABORTED if aborts else Fate.UNKNOWN)
    return Fate.COMMITTED


async def _give_up(producer: TransactionalProducer, error: EosctlError, otherwise: Fate) -> Fate:
    """Abort the transaction; if that fails, initialize again, which ends it at the coordinator.

    An acknowledged abort proves that nothing was committed; `otherwise` is the outcome without such proof.
    """
    if isinstance(error, ProducerFenced) and error.severity is Severity.FATAL:
        raise error
    if isinstance(error, TransactionFailed) and error.severity is not Severity.FATAL:
        try:
            await producer.abort()
            return Fate.ABORTED
        except ProducerFenced:
            raise
        except EosctlError as refused:
            error = refused
    elif isinstance(error, RequestTimedOut | ClusterUnreachable) and otherwise is Fate.ABORTED:
        # Like Kafka's producer: end the transaction first, then request a new epoch.
        try:
            await producer.abort()
        except ProducerFenced:
            raise
        except EosctlError as refused:
            error = refused
    # After the coordinator has expired an id, its previous identity is invalid.
    forgotten = isinstance(error, BrokerError) and error.error_code == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    await producer.init_transactions(keep_identity=not forgotten)
    return otherwise
