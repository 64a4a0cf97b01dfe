"""AddOffsetsToTxn (key 25, versions 0 to 4; KIP-98).

- Adds the group's partition of `__consumer_offsets`, under the rules of AddPartitionsToTxn.
- The group need not exist, and its name may be empty.
- Below version 2, PRODUCER_FENCED (90) becomes INVALID_PRODUCER_EPOCH (47).
"""

from __future__ import annotations

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.coordinator.transaction.rules.decision import Answer
from eosctl.sandbox.ports import CONSUMER_OFFSETS_TOPIC, RequestContext
from eosctl.sandbox.security.access import Access
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.internal.partitioner import partition_for
from eosctl.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse


def handle(broker: BrokerServices, context: RequestContext, request: AddOffsetsToTxnRequest) -> None:
    """Add a group's offsets partition to the transaction."""

    def reply(answer: Answer) -> None:
        error = answer.error
        if error is ErrorCode.PRODUCER_FENCED and context.api_version < 2:
            error = ErrorCode.INVALID_PRODUCER_EPOCH
        context.reply(AddOffsetsToTxnResponse(error_code=error))

    count = broker.metadata.partition_count(CONSUMER_OFFSETS_TOPIC)
    index = partition_for(request.group_id, count or broker.config.get_int("offsets.topic.num.partitions"))
    broker.transactions.add_partitions(
        request.transactional_id,
        request.producer_id,
        request.producer_epoch,
        frozenset({TopicPartition(CONSUMER_OFFSETS_TOPIC, index)}),
        0,
        reply,
    )


DENIED = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


def guard(access: Access, request: AddOffsetsToTxnRequest) -> None:
    """Require WRITE on the transactional id and READ on the group."""
    if not access.may_transact(AclOperation.WRITE, request.transactional_id):
        access.reply(AddOffsetsToTxnResponse(0, DENIED))
    elif not access.may_group(AclOperation.READ, request.group_id):
        access.reply(AddOffsetsToTxnResponse(0, ErrorCode.GROUP_AUTHORIZATION_FAILED))
    else:
        access.proceed(request)
