"""Offset commits in transactions by topic id, on any cluster: what is sent, and what is answered (KIP-1319)."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from eosctl.client import Client, connect
from eosctl.client.destinations import Role, group_coordinator
from eosctl.client.offsets import committed_offsets
from eosctl.client.outcome import any_error
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.producer_errors import Severity, TransactionFailed
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import GroupIdentity, OffsetToCommit
from eosctl.model.client_config import ClientConfig, Endpoint
from eosctl.model.transaction import TopicPartition
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from eosctl.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from eosctl.wire.uuid import ZERO_UUID
from tests.client.recording import RecordingConnector

SHORT_MS = 3_000  # A client that gives up soon: what it waits for never happens.


class Stage(NamedTuple):
    """A client with a record of its requests, a producer, and a topic with two records that nothing else uses."""

    client: Client
    producer: TransactionalProducer
    orders: TopicPartition
    wire: RecordingConnector

    @property
    def topic_id(self) -> bytes:
        topic = self.client.cluster.topic(self.orders.topic)
        assert topic is not None
        return topic.topic_id

    def commits(self) -> list[tuple[int, bytes, str]]:
        """Return version, topic id, and topic name of each offset commit."""
        sent = self.wire.of(ApiKey.TXN_OFFSET_COMMIT)
        return [(one.version, topic.topic_id, topic.name) for one in sent for topic in one.message.topics]


@asynccontextmanager
async def stage(bootstrap: str, timeout_ms: int = 30_000) -> AsyncIterator[Stage]:
    host, port = bootstrap.split(",")[0].rsplit(":", 1)
    config = ClientConfig(bootstrap=(Endpoint(host, int(port)),))
    wire = RecordingConnector()
    name = f"by-id-{uuid.uuid4().hex[:8]}"
    async with connect(config, connector=wire) as client:
        await ensure_topic(client, name, partition_count=1)
        producer = TransactionalProducer(client, name, now_ms=lambda: time.time_ns() // 1_000_000)
        await producer.init_transactions()
        await producer.send(TopicPartition(name, 0), [OutgoingRecord(None, b"a"), OutgoingRecord(None, b"b")])
        await producer.commit()
        client.config = replace(config, timeout_ms=timeout_ms)
        yield Stage(client, producer, TopicPartition(name, 0), wire)


def offsets(partition: TopicPartition, offset: int = 1) -> Mapping[TopicPartition, OffsetToCommit]:
    return {partition: OffsetToCommit(offset)}


async def commit(bootstrap: str, version: int) -> None:
    """Offsets commit with the transaction, in the version that the coordinator serves."""
    async with stage(bootstrap) as on:
        group = GroupIdentity(f"{on.orders.topic}-group")
        await on.producer.send_offsets(group, offsets(on.orders))
        await on.producer.send_offsets(group, offsets(on.orders, 2))
        await on.producer.commit()
        # Version 6 does not carry the name, version 5 not the id.
        named = (on.topic_id, "") if version >= 6 else (ZERO_UUID, on.orders.topic)
        assert set(on.commits()) == {(version, *named)}
        assert await committed_offsets(on.client, group.group_id, [on.orders]) == {on.orders: 2}


async def commit_for_unknown_topic(bootstrap: str) -> None:
    """A topic without an id is committed by name, as Kafka's producer does, with its fellow topics."""
    async with stage(bootstrap, SHORT_MS) as on:
        missing = TopicPartition(f"{on.orders.topic}-missing", 0)
        with pytest.raises(TransactionFailed) as failed:
            await on.producer.send_offsets(GroupIdentity("g"), {**offsets(on.orders), **offsets(missing)})
        assert failed.value.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert set(on.commits()) == {(5, ZERO_UUID, on.orders.topic), (5, ZERO_UUID, missing.topic)}
        await on.producer.abort()


async def commit_for_topic_made_again(bootstrap: str) -> None:
    """The id of a deleted topic is unknown; after the error, the client uses the id of the topic that replaces it."""
    async with stage(bootstrap, SHORT_MS) as on:
        group = GroupIdentity(f"{on.orders.topic}-group")
        await on.producer.send_offsets(group, offsets(on.orders))
        await on.producer.commit()
        former = (6, on.topic_id, "")
        topic = on.orders.topic
        request = DeleteTopicsRequest([topic], [DeleteTopicState(topic)], 10_000)
        answer = await on.client.request(Role.CONTROLLER, ApiKey.DELETE_TOPICS, request)
        assert any_error(answer) is ErrorCode.NONE
        while (found := (await on.client.refresh_metadata([topic])).topic(topic)) and not found.error:
            await asyncio.sleep(0)
        # The refresh has dropped the id; a client that has not noticed still has it.
        on.client._router._topic_ids[topic] = former[1]
        with pytest.raises(TransactionFailed) as failed:
            await on.producer.send_offsets(group, offsets(on.orders))
        assert (failed.value.error_code, failed.value.severity) == (ErrorCode.UNKNOWN_TOPIC_ID, Severity.RETRIABLE)
        assert set(on.commits()) == {former}
        await on.producer.abort()
        on.client.config = replace(on.client.config, timeout_ms=30_000)
        await ensure_topic(on.client, topic, partition_count=1)
        assert on.topic_id != former[1]
        await on.producer.send_offsets(group, offsets(on.orders))
        await on.producer.commit()
        assert on.commits()[-1] == (6, on.topic_id, "")


async def commit_for_former_members(bootstrap: str, unknown: ErrorCode, stale: ErrorCode) -> None:
    """A group that does not exist, and a member with an epoch that is over: the transaction can be aborted."""
    async with stage(bootstrap) as on:
        group_id, member = f"{on.orders.topic}-group", str(uuid.uuid4())

        async def heartbeat(epoch: int, *topics: str) -> int:
            request = ConsumerGroupHeartbeatRequest(
                group_id,
                member,
                epoch,
                rebalance_timeout_ms=30_000,
                subscribed_topic_names=topics or None,
                topic_partitions=None if epoch else [],
            )
            answer = await on.client.request(
                group_coordinator(group_id), ApiKey.CONSUMER_GROUP_HEARTBEAT, request, error_of=any_error
            )
            assert answer.error_code == ErrorCode.NONE
            return int(answer.member_epoch)

        async def refused(generation: int) -> ErrorCode:
            with pytest.raises(TransactionFailed) as failed:
                await on.producer.send_offsets(GroupIdentity(group_id, generation, member), offsets(on.orders))
            assert failed.value.severity is Severity.ABORTABLE
            await on.producer.abort()
            return ErrorCode(failed.value.error_code)

        assert await refused(3) is unknown
        epoch = await heartbeat(0, on.orders.topic)
        assert await refused(epoch - 1) is stale
        assert await refused(epoch + 1) is stale
        await on.producer.send_offsets(GroupIdentity(group_id, epoch, member), offsets(on.orders))
        await on.producer.commit()
        assert await committed_offsets(on.client, group_id, [on.orders]) == {on.orders: 1}
