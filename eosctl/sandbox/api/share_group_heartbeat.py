"""ShareGroupHeartbeat (key 76, version 1; KIP-932).

- With `share.version` 0, UNSUPPORTED_VERSION (35).
- An error response contains only code and message. A leaving member's response repeats its epoch -1.
- Partitions are assigned once their state exists, so a new group's first member gets them with a later heartbeat.
"""

from __future__ import annotations

from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.coordinator.group.consumer.consumer_records import group_by_topic
from eosctl.sandbox.coordinator.group.requests import java_address
from eosctl.sandbox.coordinator.group.share.driver import ShareAnswer
from eosctl.sandbox.coordinator.group.share.heartbeat import ShareHeartbeat, request_problem
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import Access
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.share_group_heartbeat import (
    Assignment,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
    TopicPartitions,
)

SHARE_FEATURE = "share.version"
MAX_MEMBER_ID_LENGTH = 36


def is_share_enabled(broker: BrokerServices) -> bool:
    """Return whether the cluster has share groups (`share.version`)."""
    return broker.metadata.finalized_feature(SHARE_FEATURE) > 0


def is_member_id(member_id: str | None) -> bool:
    """Return whether a member id is valid: not empty, and no longer than a UUID."""
    return bool(member_id) and len(member_id or "") <= MAX_MEMBER_ID_LENGTH


def handle(broker: BrokerServices, context: RequestContext, request: ShareGroupHeartbeatRequest) -> None:
    """Handle a member that joins, reports, or leaves."""

    def reply(answer: ShareAnswer) -> None:
        assignment = None
        if answer.assignment is not None:
            assignment = Assignment([TopicPartitions(*topic) for topic in group_by_topic(answer.assignment)])
        context.reply(
            ShareGroupHeartbeatResponse(
                error_code=answer.error,
                error_message=answer.message,
                member_id=answer.member_id,
                member_epoch=answer.member_epoch,
                heartbeat_interval_ms=answer.heartbeat_interval_ms,
                assignment=assignment,
            )
        )

    if not is_share_enabled(broker):
        reply(ShareAnswer(ErrorCode.UNSUPPORTED_VERSION))
        return
    if not is_member_id(request.member_id):
        reply(ShareAnswer(ErrorCode.INVALID_REQUEST))
        return
    names = request.subscribed_topic_names
    beat = ShareHeartbeat(
        group_id=request.group_id,
        member_id=request.member_id,
        member_epoch=request.member_epoch,
        rack_id=request.rack_id,
        client_id=context.client_id or "",
        client_host=java_address(context.client_host),
        subscribed_topic_names=None if names is None else frozenset(names),
    )
    problem = request_problem(beat)
    if problem is not None:
        reply(ShareAnswer(ErrorCode.INVALID_REQUEST, problem))
        return
    shard = broker.groups.find_shard(request.group_id)
    if isinstance(shard, ErrorCode):
        reply(ShareAnswer(shard, kafka_text(shard)))
    else:
        broker.groups.share.heartbeat(shard, beat, reply)


def guard(access: Access, request: ShareGroupHeartbeatRequest) -> None:
    """Require READ on the group and DESCRIBE on every subscribed topic."""
    if not is_share_enabled(access.broker):
        access.proceed(request)
    elif not access.may_group(AclOperation.READ, request.group_id):
        access.reply(ShareGroupHeartbeatResponse(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED))
    elif not all(access.may_topic(AclOperation.DESCRIBE, name) for name in request.subscribed_topic_names or ()):
        access.reply(ShareGroupHeartbeatResponse(error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED))
    else:
        access.proceed(request)
