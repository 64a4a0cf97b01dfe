"""JoinGroup (key 11, versions 0 to 9; KIP-62, KIP-345, KIP-394, KIP-559, KIP-800, KIP-814).

- From version 4, a new dynamic member first receives an id with MEMBER_ID_REQUIRED (79) and must join again with it.
- The response waits for the rebalance: the initial delay of an empty group, else until all members have joined.
- A restarted static member keeps its assignment without a rebalance while the selected protocol is the same; its
  previous member id receives FENCED_INSTANCE_ID (82).
- Version 0 has no rebalance timeout; the session timeout is used.

Not validated: the form of the instance id.
"""

from __future__ import annotations

from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.coordinator.group.classic_effects import JoinResult
from eosctl.sandbox.coordinator.group.classic_group import MemberProtocol
from eosctl.sandbox.coordinator.group.classic_join import JoinRequest
from eosctl.sandbox.coordinator.group.requests import find_named_shard, java_address
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import needs_group_read
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse, JoinGroupResponseMember

_KNOWN_MEMBER_ID_VERSION = 4
_NULL_PROTOCOL_VERSION = 7
_SKIP_ASSIGNMENT_VERSION = 9


def handle(broker: BrokerServices, context: RequestContext, request: JoinGroupRequest) -> None:
    """Handle a joining member; respond immediately or when the rebalance completes."""

    def reply(result: JoinResult) -> None:
        protocol_name = result.protocol_name
        if protocol_name is None and context.api_version < _NULL_PROTOCOL_VERSION:
            protocol_name = ""
        context.reply(
            JoinGroupResponse(
                error_code=result.error,
                generation_id=result.generation_id,
                protocol_type=result.protocol_type,
                protocol_name=protocol_name,
                leader=result.leader_id,
                skip_assignment=result.skip_assignment,
                member_id=result.member_id,
                members=[JoinGroupResponseMember(*member) for member in result.members],
            )
        )

    shard = find_named_shard(broker.groups, request.group_id)
    if isinstance(shard, ErrorCode):
        reply(JoinResult(shard, request.member_id))
        return
    has_rebalance_timeout = context.api_version > 0
    is_dynamic = request.group_instance_id is None
    broker.groups.classic.join(
        shard,
        request.group_id,
        JoinRequest(
            member_id=request.member_id,
            group_instance_id=request.group_instance_id,
            client_id=context.client_id or "",
            client_host=java_address(context.client_host),
            session_timeout_ms=request.session_timeout_ms,
            rebalance_timeout_ms=request.rebalance_timeout_ms if has_rebalance_timeout else request.session_timeout_ms,
            protocol_type=request.protocol_type,
            protocols=tuple(MemberProtocol(protocol.name, bytes(protocol.metadata)) for protocol in request.protocols),
            requires_known_member_id=is_dynamic and context.api_version >= _KNOWN_MEMBER_ID_VERSION,
            can_skip_assignment=context.api_version >= _SKIP_ASSIGNMENT_VERSION,
        ),
        reply,
    )


guard = needs_group_read(JoinGroupResponse(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED))
