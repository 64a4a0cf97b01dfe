"""Heartbeat (key 12, versions 0 to 4; KIP-62, KIP-345).

- REBALANCE_IN_PROGRESS (27) makes the member join again.
- While the coordinator loads, the response has no error, so that the member stays.
"""

from __future__ import annotations

from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.coordinator.group.requests import find_named_shard
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import needs_group_read
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse


def handle(broker: BrokerServices, context: RequestContext, request: HeartbeatRequest) -> None:
    """Renew a member's session."""
    shard = find_named_shard(broker.groups, request.group_id)
    if shard is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        error = ErrorCode.NONE
    elif isinstance(shard, ErrorCode):
        error = shard
    else:
        error = broker.groups.classic.heartbeat(
            shard, request.group_id, request.member_id, request.group_instance_id, request.generation_id
        )
    context.reply(HeartbeatResponse(error_code=error))


guard = needs_group_read(HeartbeatResponse(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED))
