"""ListGroups (key 16, versions 0 to 5; KIP-518, KIP-848).

- Lists the groups of this broker; the filters by state (version 4) and type (version 5) ignore case.
- While a partition is loading, the code is COORDINATOR_LOAD_IN_PROGRESS (14) and the groups of the others are listed.
"""

from __future__ import annotations

from msgspec.structs import replace

from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.coordinator.group.admin import list_groups
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import Access
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse


def handle(broker: BrokerServices, context: RequestContext, request: ListGroupsRequest) -> None:
    """List the groups that this broker coordinates."""
    error = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if broker.groups.is_loading else ErrorCode.NONE
    lines = list_groups(broker.groups.shards, request.states_filter, request.types_filter)
    context.reply(ListGroupsResponse(error_code=error, groups=[ListedGroup(*line) for line in lines]))


def guard(access: Access, request: ListGroupsRequest) -> None:
    """List all groups for principals with DESCRIBE on the cluster, else those with DESCRIBE on the group."""
    if access.may_cluster(AclOperation.DESCRIBE):
        access.proceed(request)
        return
    access.proceed(
        request,
        lambda response: replace(
            response,
            groups=[group for group in response.groups if access.may_group(AclOperation.DESCRIBE, group.group_id)],
        ),
    )
