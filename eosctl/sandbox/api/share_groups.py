"""Share groups (KIP-932), which the sandbox lacks: requests are rejected as a 4.3 broker without such groups does.

- With `share.version` 0, every request gets UNSUPPORTED_VERSION.
- From 1 on, invalid requests and requests for unknown groups and sessions get Kafka's errors. Joining or changing a
  group gets UNSUPPORTED_VERSION.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eosctl.sandbox.broker.routes import Handler
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import (
    alter_share_group_offsets,
    delete_share_group_offsets,
    describe_share_group_offsets,
    share_acknowledge,
    share_fetch,
)
from eosctl.wire.messages.share_group_describe import (
    DescribedGroup,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
)
from eosctl.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse

FEATURE = "share.version"
LEAVE_EPOCH, JOIN_EPOCH = -1, 0
FINAL_EPOCH, FIRST_EPOCH = -1, 0  # Share sessions.
OFF = ErrorCode.UNSUPPORTED_VERSION


def _is_on(broker: BrokerServices) -> bool:
    return broker.metadata.finalized_feature(FEATURE) > 0


# --- members ----------------------------------------------------------------------------------------------------


def _heartbeat(broker: BrokerServices, context: RequestContext, request: ShareGroupHeartbeatRequest) -> None:
    error, text = OFF, heartbeat_problem(request) if _is_on(broker) and request.member_id else None
    if _is_on(broker) and (text is not None or not request.member_id):
        error = ErrorCode.INVALID_REQUEST
    context.reply(ShareGroupHeartbeatResponse(error_code=error, error_message=text))


def heartbeat_problem(request: ShareGroupHeartbeatRequest) -> str | None:
    """Return the problem of a request that does not depend on a group; None if it is valid."""
    if not request.group_id:
        return "GroupId can't be empty."
    if request.rack_id == "":
        return "RackId can't be empty."
    if request.member_epoch < LEAVE_EPOCH:
        return "MemberEpoch is invalid."
    if request.member_epoch == JOIN_EPOCH and not request.subscribed_topic_names:
        return "SubscribedTopicNames must be set in first request."
    return None


def _describe(broker: BrokerServices, context: RequestContext, request: ShareGroupDescribeRequest) -> None:
    if _is_on(broker):
        groups = [DescribedGroup(*absence(broker, group_id, "share"), group_id) for group_id in request.group_ids]
    else:
        groups = [DescribedGroup(OFF, None, group_id) for group_id in request.group_ids]
    context.reply(ShareGroupDescribeResponse(groups=groups))


def absence(broker: BrokerServices, group_id: str, kind: str) -> tuple[ErrorCode, str | None]:
    """Return the error for an unknown group of a type."""
    shard = broker.groups.find_shard(group_id) if group_id else ErrorCode.INVALID_GROUP_ID
    if isinstance(shard, ErrorCode):
        return shard, None
    what = "not found" if shard.groups.get(group_id) is None else f"is not a {kind} group"
    return ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} {what}."


# --- sessions ---------------------------------------------------------------------------------------------------


def _session_error(broker: BrokerServices, request: Any, *, may_begin: bool) -> ErrorCode:
    if not _is_on(broker):
        return OFF
    if not request.member_id:
        return ErrorCode.INVALID_REQUEST
    if request.share_session_epoch == FIRST_EPOCH:
        return OFF if may_begin else ErrorCode.INVALID_SHARE_SESSION_EPOCH
    return ErrorCode.SHARE_SESSION_NOT_FOUND


def _fetch(broker: BrokerServices, context: RequestContext, request: share_fetch.ShareFetchRequest) -> None:
    context.reply(share_fetch.ShareFetchResponse(0, _session_error(broker, request, may_begin=True)))


def _acknowledge(
    broker: BrokerServices, context: RequestContext, request: share_acknowledge.ShareAcknowledgeRequest
) -> None:
    context.reply(share_acknowledge.ShareAcknowledgeResponse(0, _session_error(broker, request, may_begin=False)))


# --- offsets and state ------------------------------------------------------------------------------------------


def _describe_offsets(
    _: BrokerServices, context: RequestContext, request: describe_share_group_offsets.DescribeShareGroupOffsetsRequest
) -> None:
    group = describe_share_group_offsets.DescribeShareGroupOffsetsResponseGroup
    groups = [group(requested.group_id, (), OFF, None) for requested in request.groups]
    context.reply(describe_share_group_offsets.DescribeShareGroupOffsetsResponse(0, groups))


def _alter_offsets(_: BrokerServices, context: RequestContext, request: Any) -> None:
    context.reply(alter_share_group_offsets.AlterShareGroupOffsetsResponse(0, OFF, kafka_text(OFF)))


def _delete_offsets(_: BrokerServices, context: RequestContext, request: Any) -> None:
    context.reply(delete_share_group_offsets.DeleteShareGroupOffsetsResponse(0, OFF, kafka_text(OFF)))


HANDLERS: Mapping[int, Handler] = {
    ApiKey.SHARE_GROUP_HEARTBEAT: _heartbeat,
    ApiKey.SHARE_GROUP_DESCRIBE: _describe,
    ApiKey.SHARE_FETCH: _fetch,
    ApiKey.SHARE_ACKNOWLEDGE: _acknowledge,
    ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS: _describe_offsets,
    ApiKey.ALTER_SHARE_GROUP_OFFSETS: _alter_offsets,
    ApiKey.DELETE_SHARE_GROUP_OFFSETS: _delete_offsets,
}
