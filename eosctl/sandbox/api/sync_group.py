"""SyncGroup (key 14, versions 0 to 5; KIP-62, KIP-345, KIP-559).

- The leader's request contains the assignment; the others wait until it is written to `__consumer_offsets`.
- In a stable group, a member receives its assignment immediately.
- While the coordinator loads, the response is REBALANCE_IN_PROGRESS (27), so that the member joins again.
"""

from __future__ import annotations

from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.coordinator.group.classic_effects import SyncResult
from eosctl.sandbox.coordinator.group.classic_sync import SyncRequest
from eosctl.sandbox.coordinator.group.requests import find_named_shard
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import needs_group_read
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse

_PROTOCOL_VERSION = 5


def handle(broker: BrokerServices, context: RequestContext, request: SyncGroupRequest) -> None:
    """Return the members' assignments."""

    def reply(result: SyncResult) -> None:
        context.reply(
            SyncGroupResponse(
                error_code=result.error,
                protocol_type=result.protocol_type,
                protocol_name=result.protocol_name,
                assignment=result.assignment,
            )
        )

    names_protocol = request.protocol_type is not None and request.protocol_name is not None
    if context.api_version >= _PROTOCOL_VERSION and not names_protocol:
        reply(SyncResult(ErrorCode.INCONSISTENT_GROUP_PROTOCOL))
        return
    shard = find_named_shard(broker.groups, request.group_id)
    if shard is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        shard = ErrorCode.REBALANCE_IN_PROGRESS
    if isinstance(shard, ErrorCode):
        reply(SyncResult(shard))
        return
    broker.groups.classic.sync(
        shard,
        request.group_id,
        SyncRequest(
            member_id=request.member_id,
            group_instance_id=request.group_instance_id,
            generation_id=request.generation_id,
            protocol_type=request.protocol_type,
            protocol_name=request.protocol_name,
            assignments={entry.member_id: bytes(entry.assignment) for entry in request.assignments},
        ),
        reply,
    )


guard = needs_group_read(SyncGroupResponse(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED))
