"""The parts of share groups (KIP-932) that the sandbox lacks: fetching, acknowledging, and administering offsets.

- With `share.version` 0, every request gets UNSUPPORTED_VERSION.
- From 1 on, requests for unknown sessions get Kafka's errors, and all others UNSUPPORTED_VERSION.
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

FEATURE = "share.version"
FINAL_EPOCH, FIRST_EPOCH = -1, 0  # Share sessions.
OFF = ErrorCode.UNSUPPORTED_VERSION


def _is_on(broker: BrokerServices) -> bool:
    return broker.metadata.finalized_feature(FEATURE) > 0


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
    ApiKey.SHARE_FETCH: _fetch,
    ApiKey.SHARE_ACKNOWLEDGE: _acknowledge,
    ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS: _describe_offsets,
    ApiKey.ALTER_SHARE_GROUP_OFFSETS: _alter_offsets,
    ApiKey.DELETE_SHARE_GROUP_OFFSETS: _delete_offsets,
}
