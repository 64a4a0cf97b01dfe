"""ShareGroupHeartbeat (76), version 1 (KIP-932): refused.

- a request that no broker would take answers 42, with Kafka's reasons
- any other answers 35, as from a broker whose ``share.version`` is 0: the sandbox has no share groups
"""

from __future__ import annotations

from typing import Any

from eosctl.sandbox.ports import RequestContext
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse

LEAVE_EPOCH, JOIN_EPOCH = -1, 0


def handle(broker: Any, context: RequestContext, request: ShareGroupHeartbeatRequest) -> None:
    """Refuse a member of a share group."""
    error, message = ErrorCode.UNSUPPORTED_VERSION, ErrorCode.UNSUPPORTED_VERSION.message
    if not request.member_id:
        context.reply(ShareGroupHeartbeatResponse(error_code=ErrorCode.INVALID_REQUEST))
        return
    problem = _problem(request)
    if problem is not None:
        error, message = ErrorCode.INVALID_REQUEST, problem
    context.reply(ShareGroupHeartbeatResponse(error_code=error, error_message=message))


def _problem(request: ShareGroupHeartbeatRequest) -> str | None:
    """Return what is wrong with a request regardless of any group, None when nothing is."""
    if not request.group_id:
        return "GroupId can't be empty."
    if request.rack_id == "":
        return "RackId can't be empty."
    if request.member_epoch < LEAVE_EPOCH:
        return "MemberEpoch is invalid."
    if request.member_epoch == JOIN_EPOCH and not request.subscribed_topic_names:
        return "SubscribedTopicNames must be set in first request."
    return None
