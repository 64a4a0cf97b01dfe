"""DeleteShareGroupOffsets (key 92, version 0; KIP-932).

- Deletes the state of whole topics of an empty share group: NON_EMPTY_GROUP (68) with members, GROUP_ID_NOT_FOUND (69)
  for an unknown group.
- A topic that is unknown, or has no state, gets UNKNOWN_TOPIC_OR_PARTITION with a message.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from eosctl.sandbox.api.share_group_heartbeat import is_share_enabled
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.coordinator.group.consumer.request import RefusedError
from eosctl.sandbox.coordinator.group.requests import find_named_shard
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import Access
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsResponse,
    DeleteShareGroupOffsetsResponseTopic,
)

UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def handle(broker: BrokerServices, context: RequestContext, request: DeleteShareGroupOffsetsRequest) -> None:
    """Delete the state of topics."""
    error = ErrorCode.NONE if is_share_enabled(broker) else ErrorCode.UNSUPPORTED_VERSION
    shard = find_named_shard(broker.groups, request.group_id) if error is ErrorCode.NONE else error
    if isinstance(shard, ErrorCode):
        context.reply(DeleteShareGroupOffsetsResponse(error_code=shard, error_message=kafka_text(shard)))
        return
    known = {
        topic_id: topic.topic_name
        for topic in request.topics
        if (topic_id := broker.metadata.topic_id(topic.topic_name)) is not None
    }

    def deleted(errors: Mapping[bytes, ErrorCode]) -> None:
        responses = []
        for topic in request.topics:
            topic_id = next((found for found, name in known.items() if name == topic.topic_name), None)
            if topic_id is None:
                failed = DeleteShareGroupOffsetsResponseTopic(
                    topic.topic_name, error_code=UNKNOWN, error_message=kafka_text(UNKNOWN)
                )
            elif topic_id not in errors:
                text = "There is no offset information to delete."
                failed = DeleteShareGroupOffsetsResponseTopic(topic.topic_name, error_code=UNKNOWN, error_message=text)
            else:
                code = errors[topic_id]
                text_or_none = kafka_text(code) if code else None
                failed = DeleteShareGroupOffsetsResponseTopic(topic.topic_name, topic_id, code, text_or_none)
            responses.append(failed)
        context.reply(DeleteShareGroupOffsetsResponse(responses=responses))

    try:
        broker.groups.share.delete_offsets(shard, request.group_id, list(known), deleted)
    except RefusedError as refusal:
        context.reply(DeleteShareGroupOffsetsResponse(error_code=refusal.error, error_message=refusal.message))


DENIED = ErrorCode.GROUP_AUTHORIZATION_FAILED
TOPIC_DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


def guard(access: Access, request: DeleteShareGroupOffsetsRequest) -> None:
    """Require DELETE on the group and READ on each topic."""
    if not is_share_enabled(access.broker):
        access.proceed(request)
        return
    if not access.may_group(AclOperation.DELETE, request.group_id):
        access.reply(DeleteShareGroupOffsetsResponse(error_code=DENIED, error_message=kafka_text(DENIED)))
        return
    allowed, denied = access.part(request.topics, lambda topic: access.may_topic(AclOperation.READ, topic.topic_name))
    refused = [
        DeleteShareGroupOffsetsResponseTopic(
            topic.topic_name, error_code=TOPIC_DENIED, error_message=kafka_text(TOPIC_DENIED)
        )
        for topic in denied
    ]
    access.proceed(
        replace(request, topics=allowed), lambda response: replace(response, responses=[*response.responses, *refused])
    )
