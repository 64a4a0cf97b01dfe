"""ListTransactions (key 66, versions 0 to 2; 3.9 serves 0 to 1; KIP-664, KIP-994, KIP-1152).

- Lists the ids of this coordinator; COORDINATOR_LOAD_IN_PROGRESS (14) while any of its partitions is loading.
- Unknown state names are returned; the known ones still filter.
- The duration filter uses the start time in every state, so ids without a transaction so far (start -1) always pass.
- The pattern of version 2 must match the whole id, in RE2 syntax; an invalid pattern gets INVALID_REGULAR_EXPRESSION
  (128).
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.coordinator.transaction.metadata import DEAD, STATE_BY_STATUS, TransactionMetadata
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.re2.nodes import InvalidPattern
from eosctl.sandbox.re2.pattern import Pattern, compile_re2
from eosctl.sandbox.security.access import Access
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
    TransactionState,
)

STATE_NAMES = frozenset(state.value for state in STATE_BY_STATUS)


def handle(broker: BrokerServices, context: RequestContext, request: ListTransactionsRequest) -> None:
    """List the transactions that pass every filter."""
    transactions = broker.transactions.transactions()
    if isinstance(transactions, ErrorCode):
        context.reply(ListTransactionsResponse(error_code=transactions))
        return
    try:
        pattern = compile_re2(request.transactional_id_pattern) if request.transactional_id_pattern else None
    except InvalidPattern:
        context.reply(ListTransactionsResponse(error_code=ErrorCode.INVALID_REGULAR_EXPRESSION))
        return
    context.reply(
        ListTransactionsResponse(
            unknown_state_filters=[name for name in dict.fromkeys(request.state_filters) if name not in STATE_NAMES],
            transaction_states=[
                TransactionState(known.transactional_id, known.producer_id, known.state.value)
                for known in _filter(transactions, request, pattern, broker.runtime.now_ms())
            ],
        )
    )


def _filter(
    transactions: list[TransactionMetadata],
    request: ListTransactionsRequest,
    pattern: Pattern | None,
    now_ms: int,
) -> Iterator[TransactionMetadata]:
    states = frozenset(request.state_filters)
    producer_ids = frozenset(request.producer_id_filters)
    duration_ms = request.duration_filter
    for known in transactions:
        if (
            known.state is not DEAD
            and (not producer_ids or known.producer_id in producer_ids)
            and (not states or known.state.value in states)
            and (duration_ms < 0 or now_ms - known.start_ms > duration_ms)
            and (pattern is None or pattern.fullmatch(known.transactional_id))
        ):
            yield known


def guard(access: Access, request: ListTransactionsRequest) -> None:
    """Omit ids without DESCRIBE."""
    access.proceed(
        request,
        lambda response: replace(
            response,
            transaction_states=[
                state
                for state in response.transaction_states
                if access.may_transact(AclOperation.DESCRIBE, state.transactional_id)
            ],
        ),
    )
