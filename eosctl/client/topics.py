"""Creation of topics for workloads and scenarios, and the rights that their work needs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from eosctl.client.client import Client
from eosctl.client.deadline import Deadline
from eosctl.client.destinations import Role
from eosctl.client.metadata import TopicMetadata
from eosctl.client.outcome import error_for_code
from eosctl.errors import AuthorizationDenied
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from eosctl.wire.messages.metadata import MetadataRequest, MetadataRequestTopic

_MAX_REPLICAS: Final = 3
#: AclOperation of Kafka's common.acl, as the bits of KIP-430.
_BITS: Final[Mapping[str, int]] = MappingProxyType(
    {"Read": 1 << 3, "Write": 1 << 4, "Create": 1 << 5, "Delete": 1 << 6, "Describe": 1 << 8}
)


async def require_topic_rights(client: Client, names: Sequence[str], operations: Iterable[str]) -> None:
    """Return if the principal may do all of these operations on topics, which need not exist.

    Brokers report the authorized operations of named topics since Kafka 2.3 (KIP-430). Nothing is checked where they do
    not.

    Args:
        client: The client.
        names: The topics.
        operations: The operations: `Read`, `Write`, `Create`, `Delete`, `Describe`.

    Raises:
        AuthorizationDenied: A right is missing.
        EosctlError: No broker answered.
    """
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name=name) for name in names],
        allow_auto_topic_creation=False,
        include_topic_authorized_operations=True,
    )
    answer = await client.request_any(ApiKey.METADATA, request)
    for topic in answer.topics:
        if topic.topic_authorized_operations < 0 and topic.error_code != ErrorCode.TOPIC_AUTHORIZATION_FAILED:
            continue
        # A topic that the principal may not describe comes without its operations.
        allowed = max(0, topic.topic_authorized_operations)
        missing = [one for one in operations if not allowed & _BITS[one]]
        if missing:
            rights = f"{', '.join(missing)} on topic {topic.name}"
            raise AuthorizationDenied(
                f"This needs rights on the topic {topic.name} that the principal does not have.",
                f"It lacks {rights}.",
                f"Grant {rights} (kafka-acls), and try again.",
            )


async def ensure_topic(
    client: Client,
    name: str,
    *,
    partition_count: int = 3,
    replica_count: int | None = None,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> TopicMetadata:
    """Create a topic if it does not exist; return it once all partitions have a leader.

    An existing topic is not changed, even if its partition count differs.

    Args:
        client: The client.
        name: The topic.
        partition_count: Partitions of a new topic.
        replica_count: Replicas of a new topic; None for three, or fewer if there are fewer brokers.
        settings: Topic settings of a new topic.

    Raises:
        EosctlError: It can neither be found nor created, or has no leaders before the timeout.
    """
    topic = (await client.refresh_metadata([name])).topic(name)
    if topic is None or topic.error is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
        replicas = replica_count or min(_MAX_REPLICAS, len(client.cluster.brokers))
        configs = [CreatableTopicConfig(key, value) for key, value in settings.items()]
        request = CreateTopicsRequest([CreatableTopic(name, partition_count, replicas, configs=configs)])
        response = await client.request(Role.CONTROLLER, ApiKey.CREATE_TOPICS, request)
        result = response.topics[0]
        if result.error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED:
            raise AuthorizationDenied(
                f"The topic {name} cannot be created: TOPIC_AUTHORIZATION_FAILED.",
                "The principal lacks Create on the topic and on the cluster.",
                "Grant Create on topic (kafka-acls), or create the topic, and try again.",
            )
        if result.error_code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
            raise error_for_code(result.error_code, f"Creating the topic {name}", result.error_message)
    return await _wait_for_leaders(client, name)


async def _wait_for_leaders(client: Client, name: str) -> TopicMetadata:
    deadline = Deadline.after(client.config.timeout_ms)
    while True:
        topic = (await client.refresh_metadata([name])).topic(name)
        if topic is not None and topic.partitions and all(p.leader_id is not None for p in topic.partitions):
            return topic
        if topic is not None and topic.error is ErrorCode.TOPIC_AUTHORIZATION_FAILED:
            raise error_for_code(topic.error, f"Metadata of {name}", api_key=ApiKey.METADATA)
        if not deadline.remaining_ms():
            code = topic.error if topic is not None and topic.error else ErrorCode.LEADER_NOT_AVAILABLE
            raise error_for_code(code, f"Waiting for the leaders of {name}")
        await asyncio.sleep(client.config.retry_backoff_ms / 1000)
