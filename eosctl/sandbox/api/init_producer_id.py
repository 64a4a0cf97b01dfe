"""InitProducerId (key 22, versions 0 to 5; 6 with `unstable.api.versions.enable`; KIP-98, KIP-360, KIP-939).

- Without a transactional id, a new producer id with epoch 0 is returned.
- Producer id and epoch must both be present or absent, else INVALID_REQUEST (42).
- Below version 4, PRODUCER_FENCED (90) becomes INVALID_PRODUCER_EPOCH (47).
- An open transaction is aborted first; the client receives CONCURRENT_TRANSACTIONS (51) and retries.
"""

from __future__ import annotations

from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.coordinator.transaction.metadata import NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from eosctl.sandbox.coordinator.transaction.rules.decision import Answer
from eosctl.sandbox.coordinator.transaction.rules.init_producer_id import Expected
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import Access
from eosctl.sandbox.security.acls import ResourceType
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse


def handle(broker: BrokerServices, context: RequestContext, request: InitProducerIdRequest) -> None:
    """Return a producer id and epoch."""

    def reply(answer: Answer) -> None:
        error = answer.error
        if error is ErrorCode.PRODUCER_FENCED and context.api_version < 4:
            error = ErrorCode.INVALID_PRODUCER_EPOCH
        context.reply(
            InitProducerIdResponse(
                error_code=error, producer_id=answer.producer_id, producer_epoch=answer.producer_epoch
            )
        )

    has_id = request.producer_id != NO_PRODUCER_ID
    if has_id != (request.producer_epoch != NO_PRODUCER_EPOCH):
        reply(Answer(ErrorCode.INVALID_REQUEST))
        return
    broker.transactions.init_producer_id(
        request.transactional_id,
        request.transaction_timeout_ms,
        Expected(request.producer_id, request.producer_epoch) if has_id else None,
        reply,
        enable_two_phase_commit=request.enable2_pc,
        keep_prepared=request.keep_prepared_txn,
    )


DENIED = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


def guard(access: Access, request: InitProducerIdRequest) -> None:
    """Require WRITE on the id; without an id, IDEMPOTENT_WRITE or WRITE on any topic (KIP-679)."""
    error = None
    if request.transactional_id is not None:
        if not access.may_transact(AclOperation.WRITE, request.transactional_id) or (
            request.enable2_pc and not access.may_transact(AclOperation.TWO_PHASE_COMMIT, request.transactional_id)
        ):
            error = DENIED
    elif not access.may_cluster(AclOperation.IDEMPOTENT_WRITE) and not _may_write_somewhere(access):
        error = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    if error is None:
        access.proceed(request)
    else:
        access.reply(InitProducerIdResponse(0, error, -1, -1))


def _may_write_somewhere(access: Access) -> bool:
    authorizer, context = access.broker.authorizer, access.context
    return authorizer is None or authorizer.allows_somewhere(
        context.principal, context.client_host, AclOperation.WRITE, ResourceType.TOPIC
    )
