"""Records without a key reach as many partitions of a real broker as plans say."""

from __future__ import annotations

import asyncio
import math

import pytest

from eosctl.capacity.plan import plan_capacity
from eosctl.capacity.workload_file import parse_workload
from eosctl.client import connect
from eosctl.client.topics import ensure_topic
from eosctl.collect.cluster import collect_shape
from eosctl.collect.offsets import collect_offsets
from eosctl.collect.reader import ReadOnly
from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.model.client_config import ClientConfig
from eosctl.settings.clusters.endpoints import parse_endpoints
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.describe_producers import DescribeProducersRequest, TopicRequest
from tests.apache.conftest import KafkaTool

RECORDS, RATE, PARTITIONS = 3_000, 1_000, 30
TOLERANCE = 0.25
#: Where a transaction begins between two choices of a partition is chance; on a busy machine, transactions are few.
CHANCE = 3.0


async def create_topic(bootstrap: str, topic: str) -> None:
    async with connect(ClientConfig(parse_endpoints(bootstrap, "test"))) as client:
        await ensure_topic(client, topic, partition_count=PARTITIONS)


async def written(bootstrap: str, topic: str) -> tuple[int, int]:
    """Return the transactions of the only producer, whose epoch each of them raised, and their markers."""
    async with connect(ClientConfig(parse_endpoints(bootstrap, "test"))) as client:
        request = DescribeProducersRequest([TopicRequest(topic, list(range(PARTITIONS)))])
        answer = await client.request(1, ApiKey.DESCRIBE_PRODUCERS, request)
        producers = [one for found in answer.topics for part in found.partitions for one in part.active_producers]
        reader = ReadOnly(client)
        topics = await collect_offsets(reader, (await collect_shape(reader)).value.topics)
        ends = [p.high_watermark or 0 for one in topics.value if one.name == topic for p in one.partitions]
    return max(one.producer_epoch for one in producers), sum(ends) - RECORDS


@pytest.mark.parametrize("size", [100, pytest.param(500, marks=pytest.mark.long)])
def test_a_transaction_reaches_the_planned_partitions(
    size: int, apache_4_4: ApacheNodes, kafka_tool: KafkaTool
) -> None:
    topic, bootstrap = f"keyless-{size}", apache_4_4.bootstrap
    asyncio.run(create_topic(bootstrap, topic))
    words = (
        f"--topic {topic} --num-records {RECORDS} --record-size {size} --throughput {RATE} --transactional-id {topic}"
    )
    words += f" --transaction-duration-ms 100 --producer-props bootstrap.servers={bootstrap} linger.ms=5"
    done = kafka_tool("org.apache.kafka.tools.ProducerPerformance", *words.split(), version="4.4.0")
    assert done.exit_code == 0, done.stderr
    transactions, markers = asyncio.run(written(bootstrap, topic))
    text = f"""
kind: Workload
name: keyless
cluster: {{brokers: 1, replication_factor: 1, min_insync_replicas: 1, brokers_lost: 0, client_round_trip: 0 ms}}
topics: {{keyless: {{partitions: {PARTITIONS}, rate: {RATE}/s, value: {size} B, linger: 5 ms}}}}
applications:
  one: {{kind: producer, producers: 1, transactions: {transactions / (RECORDS / RATE)}/s, writes: {{keyless: auto}}}}
"""
    (one,) = plan_capacity(parse_workload(text, "keyless.yaml")).applications
    deviation = CHANCE * math.sqrt(transactions)
    assert one.data_partitions * transactions == pytest.approx(markers, rel=TOLERANCE, abs=deviation)
