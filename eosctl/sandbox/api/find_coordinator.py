"""FindCoordinator (key 10, versions 0 to 6; KIP-98, KIP-699, KIP-890, KIP-932).

- The coordinator is the leader of the internal topic's partition for the key; an empty key is valid.
- A missing internal topic is created; until it has leaders, the response is COORDINATOR_NOT_AVAILABLE (15).
- From version 4, several keys, each with its own code; below version 4, a success has the message NONE.
- Unknown types get INVALID_REQUEST (42), as do share-partitions before version 6 and malformed keys of them.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.coordinator.share.state import parse_key
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.ports import (
    CONSUMER_OFFSETS_TOPIC,
    SHARE_GROUP_STATE_TOPIC,
    TRANSACTION_STATE_TOPIC,
    RequestContext,
)
from eosctl.sandbox.security.access import Access
from eosctl.sandbox.security.acls import ResourceType
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.internal.partitioner import partition_for
from eosctl.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

_BATCH_VERSION = 4
SHARE = 2
_FIRST_SHARE_VERSION = 6
_TOPICS = {0: CONSUMER_OFFSETS_TOPIC, 1: TRANSACTION_STATE_TOPIC, SHARE: SHARE_GROUP_STATE_TOPIC}


class _Found(NamedTuple):
    error: ErrorCode
    node_id: int = -1
    host: str = ""
    port: int = -1


def handle(broker: BrokerServices, context: RequestContext, request: FindCoordinatorRequest) -> None:
    """Return the coordinator of each key."""
    if context.api_version >= _BATCH_VERSION:
        coordinators = []
        for key in request.coordinator_keys:
            error, node_id, host, port = _find(broker, context, request.key_type, key)
            # In a batch, only unknown types have an error message.
            text = kafka_text(error) if error is ErrorCode.INVALID_REQUEST and request.key_type != SHARE else ""
            coordinators.append(
                Coordinator(key=key, node_id=node_id, host=host, port=port, error_code=error, error_message=text)
            )
        context.reply(FindCoordinatorResponse(coordinators=coordinators))
        return
    error, node_id, host, port = _find(broker, context, request.key_type, request.key)
    text = "NONE" if error is ErrorCode.NONE else kafka_text(error)
    context.reply(FindCoordinatorResponse(error_code=error, error_message=text, node_id=node_id, host=host, port=port))


def _find(broker: BrokerServices, context: RequestContext, key_type: int, key: str) -> _Found:
    topic = _TOPICS.get(key_type)
    if topic is None or (key_type == SHARE and not _is_share_key(broker, context, key)):
        return _Found(ErrorCode.INVALID_REQUEST)
    count = broker.metadata.partition_count(topic)
    if not count:
        broker.ensure_internal_topic(topic)
        return _Found(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    leadership = broker.metadata.leadership(TopicPartition(topic, partition_for(key, count)))
    node = None if leadership is None else broker.metadata.brokers.get(leadership.leader_id)
    if node is None or node.fenced:
        return _Found(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    for endpoint in node.endpoints:
        if endpoint.name == context.listener:
            return _Found(ErrorCode.NONE, node.broker_id, endpoint.host, endpoint.port)
    return _Found(ErrorCode.COORDINATOR_NOT_AVAILABLE)


def _is_share_key(broker: BrokerServices, context: RequestContext, key: str) -> bool:
    if broker.emulation.is_3_9 or context.api_version < _FIRST_SHARE_VERSION:
        return False
    return parse_key(key) is not None


DENIED = ErrorCode.GROUP_AUTHORIZATION_FAILED
FIRST_KEYS_VERSION = 4
_KEY_TYPES = {
    0: (ResourceType.GROUP, DENIED),
    1: (ResourceType.TRANSACTIONAL_ID, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
}


def guard(access: Access, request: FindCoordinatorRequest) -> None:
    """Require DESCRIBE on each group or transactional id; share-partitions require CLUSTER_ACTION."""
    if request.key_type == SHARE and not access.may_cluster(AclOperation.CLUSTER_ACTION):
        error = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        keys = request.coordinator_keys
        access.reply(
            FindCoordinatorResponse(
                coordinators=[
                    Coordinator(
                        key=key, node_id=-1, host="", port=-1, error_code=error, error_message=kafka_text(error)
                    )
                    for key in keys
                ]
            )
        )
        return
    if request.key_type not in _KEY_TYPES:
        access.proceed(request)
        return
    kind, error = _KEY_TYPES[request.key_type]
    if access.context.api_version < FIRST_KEYS_VERSION:
        if access.may(AclOperation.DESCRIBE, kind, request.key):
            access.proceed(request)
        else:
            answer = FindCoordinatorResponse(error_code=error, error_message=kafka_text(error), node_id=-1, port=-1)
            access.reply(answer)
        return
    allowed, denied = access.part(request.coordinator_keys, lambda key: access.may(AclOperation.DESCRIBE, kind, key))
    refused = [Coordinator(key=key, node_id=-1, host="", port=-1, error_code=error, error_message="") for key in denied]
    access.proceed(
        replace(request, coordinator_keys=allowed),
        lambda response: replace(response, coordinators=[*response.coordinators, *refused]),
    )
