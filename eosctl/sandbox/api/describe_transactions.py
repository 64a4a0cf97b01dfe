"""DescribeTransactions (65), version 0 (KIP-664).

- unknown ids answer 105 with every other field 0 or empty, an empty id 42, one of another coordinator 16
- in PrepareCommit and PrepareAbort only the partitions whose marker is still missing are listed
"""

from __future__ import annotations

from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)


def handle(broker: BrokerServices, context: RequestContext, request: DescribeTransactionsRequest) -> None:
    """Describe each of the ids."""
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
        ErrorCode.NONE,
        transactional_id,
        known.state.value,
        known.timeout_ms,
        known.start_ms,
        known.producer_id,
        known.producer_epoch,
        [TopicData(topic, indexes) for topic, indexes in topics.items()],
    )
