"""DescribeTransactions (key 65, version 0; KIP-664).

- Unknown ids get TRANSACTIONAL_ID_NOT_FOUND (105) with all other fields 0 or empty, an empty id INVALID_REQUEST (42),
  ids of another coordinator NOT_COORDINATOR (16).
- In PrepareCommit and PrepareAbort, only the partitions without a marker are listed.
"""

from __future__ import annotations

from msgspec.structs import replace

from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import Access
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)


def handle(broker: BrokerServices, context: RequestContext, request: DescribeTransactionsRequest) -> None:
    """Describe each id."""
    context.reply(
        DescribeTransactionsResponse(
            transaction_states=[_state(broker, transactional_id) for transactional_id in request.transactional_ids]
        )
    )


def _state(broker: BrokerServices, transactional_id: str) -> TransactionState:
    known = broker.transactions.describe(transactional_id)
    if isinstance(known, ErrorCode):
        return TransactionState(error_code=known, transactional_id=transactional_id)
    topics: dict[str, list[int]] = {}
    for topic, index in sorted(known.partitions):
        topics.setdefault(topic, []).append(index)
    return TransactionState(
        error_code=ErrorCode.NONE,
        transactional_id=transactional_id,
        transaction_state=known.state.value,
        transaction_timeout_ms=known.timeout_ms,
        transaction_start_time_ms=known.start_ms,
        producer_id=known.producer_id,
        producer_epoch=known.producer_epoch,
        topics=[TopicData(topic, indexes) for topic, indexes in topics.items()],
    )


DENIED = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


def guard(access: Access, request: DescribeTransactionsRequest) -> None:
    """Require DESCRIBE on each id; omit topics without DESCRIBE."""
    allowed, denied = access.part(
        request.transactional_ids, lambda one: access.may_transact(AclOperation.DESCRIBE, one)
    )
    refused = [TransactionState(DENIED, one) for one in denied]

    def shown(state: TransactionState) -> TransactionState:
        return replace(
            state, topics=[topic for topic in state.topics if access.may_topic(AclOperation.DESCRIBE, topic.topic)]
        )

    access.proceed(
        replace(request, transactional_ids=allowed),
        lambda response: replace(response, transaction_states=[*map(shown, response.transaction_states), *refused]),
    )
