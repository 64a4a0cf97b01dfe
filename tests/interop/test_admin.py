"""Administration as three client libraries see it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing

import confluent_kafka
import pytest
from aiokafka.admin import AIOKafkaAdminClient
from confluent_kafka import ConsumerGroupState, TopicPartition
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewPartitions, NewTopic

from eosctl.testing import SandboxThread
from tests.interop.conftest import SHAPES, NewTopicName
from tests.interop.drivers import Driver
from tests.interop.kafka_python_driver import KafkaPythonAdmin

# One broker of the newer release, and three of the older; the answers come from the same code in between.
pytestmark = pytest.mark.parametrize("cluster", [SHAPES[0], SHAPES[2]], indirect=True, ids=str, scope="package")


@pytest.fixture
def admin(cluster: SandboxThread) -> AdminClient:
    return AdminClient({"bootstrap.servers": cluster.bootstrap})


@pytest.fixture
def kafka_python(cluster: SandboxThread) -> Iterator[KafkaPythonAdmin]:
    with closing(KafkaPythonAdmin(bootstrap_servers=cluster.bootstrap.split(","))) as client:
        yield client


def test_topics_come_grow_and_go(admin: AdminClient, new_topic: NewTopicName) -> None:
    topic = new_topic(2)
    assert len(admin.list_topics(topic, 20).topics[topic].partitions) == 2
    with pytest.raises(confluent_kafka.KafkaException) as twice:
        admin.create_topics([NewTopic(topic, 1)])[topic].result(20)
    assert twice.value.args[0].code() == confluent_kafka.KafkaError.TOPIC_ALREADY_EXISTS
    admin.create_partitions([NewPartitions(topic, 5)])[topic].result(20)
    assert len(admin.list_topics(topic, 20).topics[topic].partitions) == 5
    admin.delete_topics([topic])[topic].result(20)
    gone = admin.describe_topics(confluent_kafka.TopicCollection([topic]))[topic]
    with pytest.raises(confluent_kafka.KafkaException) as unknown:
        gone.result(20)
    assert unknown.value.args[0].code() == confluent_kafka.KafkaError.UNKNOWN_TOPIC_OR_PART


def test_settings_have_sources_and_can_be_changed(admin: AdminClient, new_topic: NewTopicName) -> None:
    topic = new_topic()
    entry = ConfigEntry("retention.ms", "1234", incremental_operation=AlterConfigOpType.SET)
    changed = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[entry])
    admin.incremental_alter_configs([changed])[changed].result(20)
    asked = ConfigResource(ConfigResource.Type.TOPIC, topic)
    settings = admin.describe_configs([asked])[asked].result(20)
    assert (settings["retention.ms"].value, settings["retention.ms"].source) == ("1234", 1)  # DYNAMIC_TOPIC_CONFIG
    assert settings["cleanup.policy"].is_default


def test_a_broker_reports_its_listeners(admin: AdminClient, cluster: SandboxThread) -> None:
    broker = ConfigResource(ConfigResource.Type.BROKER, "1")
    settings = admin.describe_configs([broker])[broker].result(20)
    assert settings["listeners"].value == f"PLAINTEXT://{cluster.bootstrap.split(',')[0]}"
    assert settings["listeners"].source == 4  # STATIC_BROKER_CONFIG


def test_groups_are_listed_described_and_deleted(
    admin: AdminClient, client: Driver, cluster: SandboxThread, new_topic: NewTopicName
) -> None:
    topic = new_topic()
    with closing(client.writer(cluster.bootstrap, topic)) as writer:
        writer.begin()
        writer.send(topic, 0, b"once")
        writer.commit()
    with closing(client.reader(cluster.bootstrap, topic, group=topic)) as reader:
        reader.take(1)
        reader.commit({(topic, 0): 1})
        described = admin.describe_consumer_groups([topic])[topic].result(20)
        assert described.state is ConsumerGroupState.STABLE
        (member,) = described.members
        assert [(p.topic, p.partition) for p in member.assignment.topic_partitions] == [(topic, 0)]
    listed = admin.list_consumer_groups().result(20)
    assert {group.group_id: group.state for group in listed.valid}[topic] is ConsumerGroupState.EMPTY
    asked = confluent_kafka.ConsumerGroupTopicPartitions(topic)
    (offset,) = admin.list_consumer_group_offsets([asked])[topic].result(20).topic_partitions
    assert (offset.topic, offset.partition, offset.offset) == (topic, 0, 1)
    admin.delete_consumer_groups([topic])[topic].result(20)
    assert topic not in {group.group_id for group in admin.list_consumer_groups().result(20).valid}


def test_records_are_deleted_up_to_an_offset(
    admin: AdminClient, client: Driver, cluster: SandboxThread, new_topic: NewTopicName
) -> None:
    topic = new_topic()
    with closing(client.writer(cluster.bootstrap, topic)) as writer:
        writer.begin()
        for number in range(4):
            writer.send(topic, 0, b"%d" % number)
        writer.commit()
    (deleted,) = admin.delete_records([TopicPartition(topic, 0, 3)]).values()
    assert deleted.result(20).low_watermark == 3
    with closing(client.reader(cluster.bootstrap, topic, group=topic, partitions=1)) as reader:
        assert [offset for _, offset, _ in reader.take(1)] == [3]


def test_kafka_python_lists_transactions_and_config_resources(
    kafka_python: KafkaPythonAdmin, client: Driver, cluster: SandboxThread, new_topic: NewTopicName
) -> None:
    topic = new_topic()
    with closing(client.writer(cluster.bootstrap, topic)) as writer:
        writer.begin()
        writer.send(topic, 0, b"open")
        assert topic in str(kafka_python.list_transactions())
        described = kafka_python.describe_transactions([topic])
        assert "Ongoing" in str(described)
        writer.commit()
    assert kafka_python.list_partition_reassignments() == {}
    if cluster.status()["emulate"] != "3.9":
        assert topic in str(kafka_python.list_config_resources())


def test_aiokafka_describes_the_cluster(cluster: SandboxThread) -> None:
    async def describe() -> None:
        client = AIOKafkaAdminClient(bootstrap_servers=cluster.bootstrap.split(","))
        await client.start()
        try:
            described = await client.describe_cluster()
        finally:
            await client.close()
        ports = {broker["port"] for broker in described["brokers"]}
        assert ports == {int(address.rpartition(":")[2]) for address in cluster.bootstrap.split(",")}

    asyncio.run(describe())
