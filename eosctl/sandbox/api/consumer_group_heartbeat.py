"""ConsumerGroupHeartbeat (key 68, versions 0 to 1; KIP-848).

- 3.9 has this protocol disabled and returns UNSUPPORTED_VERSION (35).
- An error response contains only code and message.
- Joining a classic group of consumers upgrades it to a consumer group (`group.consumer.migration.policy`). When the
  last member of this protocol leaves, the group is downgraded.
"""

from __future__ import annotations

from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.coordinator.group.consumer.consumer_records import group_by_topic
from eosctl.sandbox.coordinator.group.consumer.driver import HeartbeatAnswer
from eosctl.sandbox.coordinator.group.consumer.group import TopicIdPartition
from eosctl.sandbox.coordinator.group.consumer.request import ConsumerHeartbeat, RefusedError
from eosctl.sandbox.coordinator.group.requests import java_address
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import Access
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from eosctl.wire.uuid import render_uuid


def handle(broker: BrokerServices, context: RequestContext, request: ConsumerGroupHeartbeatRequest) -> None:
    """Handle a member that joins, reports, or leaves."""

    def reply(answer: HeartbeatAnswer) -> None:
        assignment = None
        if answer.assignment is not None:
            assignment = Assignment([TopicPartitions(*topic) for topic in group_by_topic(answer.assignment)])
        context.reply(
            ConsumerGroupHeartbeatResponse(
                error_code=answer.error,
                error_message=answer.message,
                member_id=answer.member_id,
                member_epoch=answer.member_epoch,
                heartbeat_interval_ms=answer.heartbeat_interval_ms,
                assignment=assignment,
            )
        )

    if broker.emulation.is_3_9:
        reply(HeartbeatAnswer(ErrorCode.UNSUPPORTED_VERSION, "The consumer group protocol is not enabled."))
        return
    heartbeat = _read(broker, context, request)
    try:
        broker.groups.consumer.check(heartbeat)
    except RefusedError as refusal:
        reply(HeartbeatAnswer(refusal.error, refusal.message))
        return
    shard = broker.groups.find_shard(request.group_id)
    if isinstance(shard, ErrorCode):
        reply(HeartbeatAnswer(shard, kafka_text(shard)))
        return
    if request.group_id in shard.share_groups:
        text = f"Group {request.group_id} is not a consumer group."
        reply(HeartbeatAnswer(ErrorCode.GROUP_ID_NOT_FOUND, text))
        return
    if not heartbeat.member_id:
        random_id = broker.runtime.random.getrandbits(128).to_bytes(16, "big")
        heartbeat = heartbeat._replace(member_id=render_uuid(random_id))
    broker.groups.consumer.heartbeat(shard, heartbeat, reply)


def _read(broker: BrokerServices, context: RequestContext, request: ConsumerGroupHeartbeatRequest) -> ConsumerHeartbeat:
    names, owned = request.subscribed_topic_names, request.topic_partitions
    return ConsumerHeartbeat(
        group_id=request.group_id,
        member_id=request.member_id,
        member_epoch=request.member_epoch,
        instance_id=request.instance_id,
        rack_id=request.rack_id,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        client_id=context.client_id or "",
        client_host=java_address(context.client_host),
        subscribed_topic_names=None if names is None else frozenset(names),
        subscribed_topic_regex=request.subscribed_topic_regex,
        server_assignor=request.server_assignor,
        owned=None
        if owned is None
        else frozenset(TopicIdPartition(topic.topic_id, index) for topic in owned for index in topic.partitions),
        api_version=context.api_version,
    )


DENIED = ErrorCode.GROUP_AUTHORIZATION_FAILED
TOPIC_DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


def guard(access: Access, request: ConsumerGroupHeartbeatRequest) -> None:
    """Require READ on the group and DESCRIBE on every topic subscribed to by name."""
    error = None
    if not access.may_group(AclOperation.READ, request.group_id):
        error = DENIED
    elif not all(access.may_topic(AclOperation.DESCRIBE, name) for name in request.subscribed_topic_names or ()):
        error = TOPIC_DENIED
    if error is None:
        access.proceed(request)
    else:
        access.reply(ConsumerGroupHeartbeatResponse(0, error, kafka_text(error)))
