"""EndTxn (key 26, versions 0 to 5; 3.9 serves 0 to 4; KIP-98, KIP-890).

- The response is sent when the prepared outcome is durable; markers and completion follow.
- Version 5 bumps the epoch and returns the next producer id and epoch, regardless of `transaction.version`.
- Below version 2, PRODUCER_FENCED (90) becomes INVALID_PRODUCER_EPOCH (47).
"""

from __future__ import annotations

from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.coordinator.transaction.rules.decision import Answer
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import Access
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.end_txn import EndTxnRequest, EndTxnResponse


def handle(broker: BrokerServices, context: RequestContext, request: EndTxnRequest) -> None:
    """Commit or abort the producer's transaction."""
    version = context.api_version

    def reply(answer: Answer) -> None:
        error = answer.error
        if version < 5:
            if version < 2 and error is ErrorCode.PRODUCER_FENCED:
                error = ErrorCode.INVALID_PRODUCER_EPOCH
            context.reply(EndTxnResponse(0, error))
        else:
            context.reply(EndTxnResponse(0, error, answer.producer_id, answer.producer_epoch))

    broker.transactions.end_transaction(
        request.transactional_id,
        request.producer_id,
        request.producer_epoch,
        request.committed,
        2 if version >= 5 else 0,
        reply,
    )


DENIED = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


def guard(access: Access, request: EndTxnRequest) -> None:
    """Require WRITE on the transactional id."""
    if access.may_transact(AclOperation.WRITE, request.transactional_id):
        access.proceed(request)
    else:
        access.reply(EndTxnResponse(0, DENIED))
