"""LeaveGroup (key 13, versions 0 to 5; KIP-62, KIP-345, KIP-800).

- From version 3, several members, each with its own code; a static member may be identified by its instance id alone.
- Below version 3, the member's code is the code of the response.
"""

from __future__ import annotations

from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.coordinator.group.classic_sync import LeavingMember
from eosctl.sandbox.coordinator.group.requests import find_named_shard
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import needs_group_read
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)

_BATCH_VERSION = 3


def handle(broker: BrokerServices, context: RequestContext, request: LeaveGroupRequest) -> None:
    """Remove members at their own request."""
    is_batch = context.api_version >= _BATCH_VERSION
    members = request.members if is_batch else [MemberIdentity(request.member_id)]
    shard = find_named_shard(broker.groups, request.group_id)
    if isinstance(shard, ErrorCode):
        context.reply(LeaveGroupResponse(error_code=shard))
        return
    leaving = [LeavingMember(member.member_id, member.group_instance_id) for member in members]
    errors = broker.groups.classic.leave(shard, request.group_id, leaving)
    if not is_batch:
        context.reply(LeaveGroupResponse(error_code=errors[0]))
        return
    answers = [
        MemberResponse(member.member_id, member.group_instance_id, error)
        for member, error in zip(members, errors, strict=True)
    ]
    context.reply(LeaveGroupResponse(members=answers))


guard = needs_group_read(LeaveGroupResponse(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED))
