"""A share consumer that takes records and returns them unprocessed, with the requests of a client."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from eosctl.client import Client
from eosctl.client.destinations import CoordinatorKind, CoordinatorOf
from eosctl.client.producer import TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import wait_until_ended
from eosctl.model.transaction import TopicPartition
from eosctl.services.callbacks import system_now_ms
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages import incremental_alter_configs as configs
from eosctl.wire.messages import share_acknowledge, share_fetch
from eosctl.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from tests.commands.open_transactions import record

GROUP = "workers"
GROUP_RESOURCE = 32
MEMBER = "AAAAAAAAAAAAAAAAAAAAAA"
TOPIC = "orders"
ACCEPT, RELEASE, REJECT = 1, 2, 3


async def alter_group(client: Client, settings: Mapping[str, str]) -> None:
    """Change settings of the group, which need not exist yet."""
    changes = [configs.AlterableConfig(name, 0, value) for name, value in settings.items()]
    request = configs.IncrementalAlterConfigsRequest([configs.AlterConfigsResource(GROUP_RESOURCE, GROUP, changes)])
    answer = await client.request_any(ApiKey.INCREMENTAL_ALTER_CONFIGS, request)
    assert [one.error_code for one in answer.responses] == [0]


async def commit_records(client: Client, count: int) -> None:
    """Write records in a transaction of their own."""
    await ensure_topic(client, TOPIC, partition_count=1)
    producer = TransactionalProducer(client, "shop", now_ms=system_now_ms)
    await producer.init_transactions()
    await producer.send(TopicPartition(TOPIC, 0), [record(f"order-{index}") for index in range(count)])
    await producer.commit()
    await wait_until_ended(client, "shop")


async def join(client: Client) -> bytes:
    """Join the group, wait for the partition, and return the id of the topic."""
    place = CoordinatorOf(CoordinatorKind.GROUP, GROUP)
    beat = ShareGroupHeartbeatRequest(GROUP, MEMBER, 0, None, [TOPIC])
    while True:
        answer = await client.request(place, ApiKey.SHARE_GROUP_HEARTBEAT, beat)
        if answer.assignment is not None and answer.assignment.topic_partitions:
            return bytes(answer.assignment.topic_partitions[0].topic_id)
        if answer.error_code == 0:
            beat = ShareGroupHeartbeatRequest(GROUP, MEMBER, answer.member_epoch)
        await asyncio.sleep(0)


class Session:
    """The share session of the member with broker 1, which leads the only partition."""

    def __init__(self, client: Client, topic_id: bytes) -> None:
        self._client, self._topic_id, self._epoch = client, topic_id, 0

    async def acquire(self) -> list[share_fetch.AcquiredRecords]:
        """Return the records that the member now has; it waits for some."""
        while True:
            topics = [share_fetch.FetchTopic(self._topic_id, [share_fetch.FetchPartition(0)])]
            request = share_fetch.ShareFetchRequest(
                GROUP, MEMBER, self._epoch, 100, 1, max_records=100, batch_size=100, topics=topics
            )
            answer = await self._client.request(1, ApiKey.SHARE_FETCH, request)
            assert answer.error_code == 0, answer
            self._epoch += 1
            acquired = [one for topic in answer.responses for part in topic.partitions for one in part.acquired_records]
            if acquired:
                return acquired

    async def acknowledge(self, first: int, last: int, kind: int) -> None:
        """Acknowledge records as accepted, released, or rejected."""
        batch = share_acknowledge.AcknowledgementBatch(first, last, [kind])
        topic = share_acknowledge.AcknowledgeTopic(self._topic_id, [share_acknowledge.AcknowledgePartition(0, [batch])])
        request = share_acknowledge.ShareAcknowledgeRequest(GROUP, MEMBER, self._epoch, topics=[topic])
        answer = await self._client.request(1, ApiKey.SHARE_ACKNOWLEDGE, request)
        assert answer.error_code == 0, answer
        self._epoch += 1
