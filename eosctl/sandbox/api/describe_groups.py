"""DescribeGroups (key 15, versions 0 to 6; 3.9 serves 0 to 5; KIP-345, KIP-430, KIP-1043).

- An unknown group is Dead without an error below version 6, and GROUP_ID_NOT_FOUND (69) with a message from 6 on.
- The members' metadata is returned only while the group is stable. So are assignments in 3.9; 4.x returns the previous
  ones.
- Groups of the consumer protocol are treated as unknown.
"""

from __future__ import annotations

from msgspec.structs import replace

from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.coordinator.group.admin import describe_state
from eosctl.sandbox.coordinator.group.classic_group import ClassicGroup, ClassicState
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import Access, with_group_operations
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)

_NOT_FOUND_VERSION = 6


def handle(broker: BrokerServices, context: RequestContext, request: DescribeGroupsRequest) -> None:
    """Describe classic groups."""
    groups = [_describe(broker, context, group_id) for group_id in request.groups]
    if request.include_authorized_operations:
        groups = with_group_operations(broker, context, groups)
    context.reply(DescribeGroupsResponse(groups=groups))


def _describe(broker: BrokerServices, context: RequestContext, group_id: str) -> DescribedGroup:
    shard = broker.groups.find_shard(group_id)
    if isinstance(shard, ErrorCode):
        return DescribedGroup(error_code=shard, group_id=group_id)
    group = shard.groups.get(group_id)
    if not isinstance(group, ClassicGroup):
        if context.api_version >= _NOT_FOUND_VERSION:
            is_absent = group is None and group_id not in shard.share_groups
            message = f"Group {group_id} {'not found' if is_absent else 'is not a classic group'}."
            return DescribedGroup(ErrorCode.GROUP_ID_NOT_FOUND, message, group_id, ClassicState.DEAD.value)
        return DescribedGroup(group_id=group_id, group_state=ClassicState.DEAD.value)
    state, protocol, shows_metadata = describe_state(group)
    members = [
        DescribedGroupMember(
            member_id=member.member_id,
            group_instance_id=member.group_instance_id,
            client_id=member.client_id,
            client_host=member.client_host,
            member_metadata=member.metadata(protocol) if shows_metadata else b"",
            member_assignment=member.assignment if shows_metadata or not broker.emulation.is_3_9 else b"",
        )
        for member in group.members.values()
    ]
    return DescribedGroup(
        group_id=group_id,
        group_state=state,
        protocol_type=group.protocol_type or "",
        protocol_data=protocol,
        members=members,
    )


DENIED = ErrorCode.GROUP_AUTHORIZATION_FAILED


def guard(access: Access, request: DescribeGroupsRequest) -> None:
    """Require DESCRIBE on each group."""
    allowed, denied = access.part(request.groups, lambda group: access.may_group(AclOperation.DESCRIBE, group))
    refused = [DescribedGroup(DENIED, None, group) for group in denied]
    access.proceed(
        replace(request, groups=allowed), lambda response: replace(response, groups=[*refused, *response.groups])
    )
