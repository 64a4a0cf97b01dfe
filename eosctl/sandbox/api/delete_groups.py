"""DeleteGroups (key 42, versions 0 to 2, and 3 on 4.4; KIP-229).

- Deletes an empty group with its offsets; otherwise NON_EMPTY_GROUP (68), or GROUP_ID_NOT_FOUND (69).
- 3.9 responds before its tombstones are replicated, 4.3 after.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import Access
from eosctl.sandbox.turns import gather
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)


def handle(broker: BrokerServices, context: RequestContext, request: DeleteGroupsRequest) -> None:
    """Delete groups."""
    names = list(dict.fromkeys(request.groups_names))
    gather(
        broker.runtime,
        names,
        partial(_delete, broker),
        lambda results: context.reply(DeleteGroupsResponse(results=results)),
    )


def _delete(broker: BrokerServices, group_id: str, done: Callable[[DeletableGroupResult], None]) -> None:
    shard = broker.groups.find_shard(group_id)
    if isinstance(shard, ErrorCode):
        done(DeletableGroupResult(group_id, shard))
    elif group_id in shard.share_groups:
        broker.groups.share.delete(shard, group_id, lambda error: done(DeletableGroupResult(group_id, error)))
    else:
        broker.groups.admin.delete(shard, group_id, lambda error: done(DeletableGroupResult(group_id, error)))


DENIED = ErrorCode.GROUP_AUTHORIZATION_FAILED


def guard(access: Access, request: DeleteGroupsRequest) -> None:
    """Require DELETE on each group."""
    allowed, denied = access.part(request.groups_names, lambda group: access.may_group(AclOperation.DELETE, group))
    refused = [DeletableGroupResult(group, DENIED) for group in denied]
    access.proceed(
        replace(request, groups_names=allowed),
        lambda response: replace(response, results=[*response.results, *refused]),
    )
