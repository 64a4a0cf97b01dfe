"""The Apache engine serves real clients, survives its own faults and leaves nothing behind."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic

from eosctl.lab.apache.brokers import BrokerState
from eosctl.lab.apache.node import count_brokers
from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.lab.apache.process import read_record
from eosctl.lab.engine import EngineError


def create_topic(engine: ApacheNodes, name: str) -> None:
    admin = AdminClient({"bootstrap.servers": engine.bootstrap})
    admin.create_topics([NewTopic(name, 1, len(engine.brokers()))])[name].result(20)


def broker_settings(engine: ApacheNodes) -> dict[str, str]:
    """Return the settings of broker 1 as it reports them."""
    admin = AdminClient({"bootstrap.servers": engine.bootstrap})
    (described,) = admin.describe_configs([ConfigResource(ConfigResource.Type.BROKER, "1")]).values()
    return {name: entry.value for name, entry in described.result(20).items()}


@contextmanager
def consuming(engine: ApacheNodes, topic: str) -> Iterator[Consumer]:
    consumer = Consumer(
        {
            "bootstrap.servers": engine.bootstrap,
            "group.id": topic,
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    try:
        yield consumer
    finally:
        consumer.close()


def test_a_committed_transaction_is_read_back(apache: ApacheNodes) -> None:
    create_topic(apache, "orders")
    producer = Producer({"bootstrap.servers": apache.bootstrap, "transactional.id": "orders-writer"})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce("orders", b"aborted")
    producer.abort_transaction(30)
    producer.begin_transaction()
    producer.produce("orders", b"committed")
    producer.commit_transaction(30)
    with consuming(apache, "orders") as consumer:
        message = consumer.poll(30)
    assert message is not None
    assert message.value() == b"committed"


def test_the_broker_listens_on_loopback_with_our_settings(apache: ApacheNodes) -> None:
    (broker,) = apache.brokers()
    assert broker.host == "127.0.0.1"
    settings = broker_settings(apache)
    assert all("127.0.0.1" in listener for listener in settings["listeners"].split(","))
    assert settings["offsets.topic.num.partitions"] == "5"
    assert listening_addresses(broker.port) == {"0100007F"}


def listening_addresses(port: int) -> set[str]:
    """Return the local addresses (in the kernel's notation) with a listener on this port."""
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text("utf-8").splitlines()[1:]:
            address, _, local_port = line.split()[1].partition(":")
            if int(local_port, 16) == port and line.split()[3] == "0A":
                found.add(address[-8:])  # Java listens on a mapped IPv4 address in the IPv6 table
    return found


def test_the_logs_are_where_operators_look(apache: ApacheNodes) -> None:
    (files,) = apache.logs().values()
    by_name = {path.name: path.read_text("utf-8") for path in files}
    assert {"server.log", "controller.log", "state-change.log", "log-cleaner.log"} <= by_name.keys()
    first = by_name["server.log"].splitlines()[0]
    assert first.startswith("[20")
    assert "] INFO " in first
    assert "QuorumController" in by_name["controller.log"]


def test_kafkas_own_tool_reads_the_broker_and_its_files(apache: ApacheNodes, kafka_tool) -> None:
    create_topic(apache, "dumped")
    producer = Producer({"bootstrap.servers": apache.bootstrap})
    producer.produce("dumped", b"visible in the dump")
    assert producer.flush(30) == 0
    (data_dir,) = apache.data_dirs().values()
    version = apache.name.split()[1]
    segment = data_dir / "dumped-0" / "00000000000000000000.log"
    tool = "org.apache.kafka.tools.DumpLogSegments" if version > "4" else "kafka.tools.DumpLogSegments"
    dumped = kafka_tool(tool, "--print-data-log", "--files", str(segment), version=version)
    assert dumped.exit_code == 0, dumped.stderr
    assert "visible in the dump" in dumped.stdout
    listed = kafka_tool(
        "org.apache.kafka.tools.TransactionsCommand", "--bootstrap-server", apache.bootstrap, "list", version=version
    )
    assert listed.exit_code == 0, listed.stderr
    assert listed.stdout.startswith("TransactionalId")


def test_partition_verification_is_on_and_can_be_disabled(apache: ApacheNodes, partition_verification_off) -> None:
    name = "transaction.partition.verification.enable"
    assert broker_settings(apache)[name] == "true"
    with partition_verification_off(apache):
        assert broker_settings(apache)[name] == "false"
    assert broker_settings(apache)[name] == "true"


@pytest.mark.slow
def test_a_killed_a_stopped_and_a_paused_broker_come_back(apache_cluster: ApacheNodes) -> None:
    engine = apache_cluster
    create_topic(engine, "survives")
    producer = Producer({"bootstrap.servers": engine.bootstrap, "acks": "all"})
    producer.produce("survives", b"acknowledged")
    assert producer.flush(30) == 0
    address = engine.brokers()[0]

    asyncio.run(engine.kill(1))
    assert engine.brokers()[0].state is BrokerState.STOPPED
    assert count_brokers(address.port) == 0
    with pytest.raises(EngineError, match="There is no broker 9"):
        asyncio.run(engine.restart(9))
    asyncio.run(engine.restart(1))
    assert engine.brokers()[0] == address  # same address, running again

    asyncio.run(engine.stop(2))
    asyncio.run(engine.restart(2))

    asyncio.run(engine.pause(3))
    assert engine.brokers()[2].state is BrokerState.PAUSED
    assert count_brokers(engine.brokers()[2].port, timeout_s=0.5) == 0
    with pytest.raises(EngineError, match="is paused"):
        asyncio.run(engine.restart(3))
    asyncio.run(engine.resume(3))

    with consuming(engine, "survives") as consumer:
        message = consumer.poll(60)
    assert message is not None
    assert message.value() == b"acknowledged"


def test_nothing_is_left_after_down(tmp_path: Path, apache_running) -> None:
    with apache_running("4.3.1", tmp_path / "short", transaction_version=1) as engine:
        (broker,) = engine.brokers()
        record = tmp_path / "short" / "node-1" / "node.pid"
        identity = read_record(record)
        assert identity is not None
        assert finalized_transaction_version(tmp_path / "short" / "node-1" / "data") == 1
    assert not Path(f"/proc/{identity.pid}").exists()
    assert listening_addresses(broker.port) == set()


def finalized_transaction_version(data_dir: Path) -> int:
    """Return the level of transaction.version that the bootstrap checkpoint of a formatted directory holds.

    The feature is a FeatureLevelRecord: its name as a compact string, then two bytes of level.
    """
    checkpoint = (data_dir / "bootstrap.checkpoint").read_bytes()
    name = b"transaction.version"
    position = checkpoint.index(bytes([len(name) + 1]) + name) + 1 + len(name)
    return int(struct.unpack_from(">h", checkpoint, position)[0])


def test_kafkas_refusal_is_reported_without_a_traceback(tmp_path: Path, apache_running) -> None:
    with (
        pytest.raises(EngineError, match="refused to format") as refused,
        apache_running("3.9.2", tmp_path / "refused", transaction_version=7),
    ):
        pass
    assert refused.value.why == "No feature:transaction.version with feature level 7"
