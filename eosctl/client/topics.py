"""Creation of topics for workloads and scenarios."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
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

_MAX_REPLICAS: Final = 3


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
                "Grant it (kafka-acls), or create the topic, and try again.",
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
        if not deadline.remaining_ms():
            code = topic.error if topic is not None and topic.error else ErrorCode.LEADER_NOT_AVAILABLE
            raise error_for_code(code, f"Waiting for the leaders of {name}")
        await asyncio.sleep(client.config.retry_backoff_ms / 1000)
