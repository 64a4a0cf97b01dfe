"""Kafka's own command-line tools print of the sandbox what they print of a real broker; ids and times are masked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from eosctl.testing import SandboxThread
from tests.apache.conftest import SETTINGS, KafkaTool, running

TOOLS = "org.apache.kafka.tools."
API_VERSIONS = {"3.9.2": "kafka.admin.BrokerApiVersionsCommand", "4.3.1": TOOLS + "BrokerApiVersionsCommand"}
EMULATIONS = {"3.9.2": "3.9", "4.3.1": "4.3"}

TRANSACTIONS = TOOLS + "TransactionsCommand"
GROUPS = TOOLS + "consumer.group.ConsumerGroupCommand"
TOPICS = TOOLS + "TopicCommand"
OFFSETS = TOOLS + "GetOffsetShell"
GLOBAL = "--bootstrap-server {bootstrap} "
COMMANDS = {
    "transactions list": (TRANSACTIONS, GLOBAL + "list"),
    "transactions describe": (TRANSACTIONS, GLOBAL + "describe --transactional-id tools-open"),
    "transactions describe-producers": (
        TRANSACTIONS,
        GLOBAL + "describe-producers --topic tools-orders --partition 0",
    ),
    "transactions find-hanging": (TRANSACTIONS, GLOBAL + "find-hanging --broker-id 1"),
    "consumer-groups list": (GROUPS, GLOBAL + "--list --state"),
    "consumer-groups describe": (GROUPS, GLOBAL + "--describe --group tools-readers"),
    "consumer-groups state": (GROUPS, GLOBAL + "--describe --state --group tools-readers"),
    "topics list": (TOPICS, GLOBAL + "--list --exclude-internal"),
    "topics describe": (TOPICS, GLOBAL + "--describe --topic tools-orders"),
    "get-offsets latest": (OFFSETS, GLOBAL + "--topic tools-.* --time -1"),
    "get-offsets max timestamp": (OFFSETS, GLOBAL + "--topic tools-orders --time -3"),
    "configs topic": (
        "kafka.admin.ConfigCommand",
        GLOBAL + "--describe --all --entity-type topics --entity-name tools-orders",
    ),
    "configs cluster": ("kafka.admin.ConfigCommand", GLOBAL + "--describe --entity-type brokers --entity-default"),
    "features": (TOOLS + "FeatureCommand", GLOBAL + "describe"),
    "broker-api-versions": ("api versions", GLOBAL.strip()),
    "consumer-groups members": (GROUPS, GLOBAL + "--describe --members --verbose --group tools-readers"),
    "consumer-groups all": (GROUPS, GLOBAL + "--describe --all-groups --offsets"),
    "topics describe configured": (TOPICS, GLOBAL + "--describe --topics-with-overrides --topic tools-.*"),
    "get-offsets earliest": (OFFSETS, GLOBAL + "--topic tools-orders --time earliest"),
    "reassign-partitions list": (TOOLS + "reassign.ReassignPartitionsCommand", GLOBAL + "--list"),
    "metadata-quorum status": (TOOLS + "MetadataQuorumCommand", GLOBAL + "describe --status"),
    "metadata-quorum replication": (TOOLS + "MetadataQuorumCommand", GLOBAL + "describe --replication"),
    "log-dirs": (TOOLS + "LogDirsCommand", GLOBAL + "--describe --broker-list 1 --topic-list tools-orders"),
}


def prepare(bootstrap: str) -> None:
    """Prepare a cluster for the tools, with the same calls on both sides."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    topic = NewTopic("tools-orders", 2, 1, config={"retention.ms": "86400000", "cleanup.policy": "compact"})
    admin.create_topics([topic])["tools-orders"].result(20)
    for name, ends in (("tools-committed", "commit"), ("tools-aborted", "abort")):
        producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": name})
        producer.init_transactions(20)
        producer.begin_transaction()
        for partition in range(2):
            producer.produce("tools-orders", b"value", b"key", partition=partition)
        if ends == "commit":
            producer.commit_transaction(20)
        else:
            assert producer.flush(20) == 0
            producer.abort_transaction(20)
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "tools-readers", "enable.auto.commit": False})
    offsets = [TopicPartition("tools-orders", partition, 1) for partition in range(2)]
    consumer.commit(offsets=offsets, asynchronous=False)
    consumer.close()


@contextmanager
def open_transaction(bootstrap: str) -> Iterator[None]:
    """Keep a transaction open, with one record in it."""
    # Longer than all tools take together, also on a busy machine.
    patience = {"transaction.timeout.ms": 900_000}
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": "tools-open", **patience})
    producer.init_transactions(20)
    producer.begin_transaction()
    producer.produce("tools-orders", b"open", b"key", partition=0)
    assert producer.flush(20) == 0
    yield
    producer.abort_transaction(20)


def masked(text: str, bootstrap: str) -> list[str]:
    """Replace what differs from cluster to cluster (addresses, ids, times and ages); widths of columns do not count."""
    text = text.replace(bootstrap, "BROKER")
    text = re.sub(r"TopicId: \S+", "TopicId: ID", text)
    # The epoch of features is an offset in the metadata log, which counts all that ever happened to a cluster.
    text = re.sub(r"(FinalizedVersionLevel: \S+\s+Epoch: )\d+", r"\1N", text)
    text = re.sub(r"ClusterId:\s+\S+", "ClusterId: ID", text)
    text = re.sub(r'"logDir":"[^"]*"', '"logDir":"DIR"', text)
    # A sandbox's controllers have no sockets, so they report no endpoints.
    text = re.sub(r', "endpoints": \[[^]]*\]', "", text)
    # The size of the metadata log, and the times of the last fetches.
    text = re.sub(r"((?:HighWatermark|LeaderEpoch|MaxFollowerLag\w*):\s+)-?\d+", r"\1N", text)
    text = re.sub(r"(?m)^(1\s+[\w-]{22}\s+)\d+(\s+0\s)", r"\1N\2", text)
    text = re.sub(r"\b1[789]\d{11}\b(\s+\d+(?=\s+tools-orders))?", "TIME", text)
    return [re.sub(r"\s+", " ", line).strip() for line in text.splitlines() if line.strip()]


@contextmanager
def pair(version: str, directory: Path) -> Iterator[tuple[str, str, str]]:
    """A new real broker and a new sandbox of one release in the same state: release, and both addresses."""
    with (
        running(version, directory) as real,
        SandboxThread(emulate=EMULATIONS[version], fast=False, config=SETTINGS) as sandbox,
    ):
        prepare(real.bootstrap)
        prepare(sandbox.bootstrap)
        with open_transaction(real.bootstrap), open_transaction(sandbox.bootstrap):
            yield version, real.bootstrap, sandbox.bootstrap


@pytest.fixture(scope="module")
def pair_3_9(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, str]]:
    with pair("3.9.2", tmp_path_factory.mktemp("tools-3.9")) as both:
        yield both


@pytest.fixture(scope="module")
def pair_4_3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, str]]:
    with pair("4.3.1", tmp_path_factory.mktemp("tools-4.3")) as both:
        yield both


@pytest.fixture(params=["3.9.2", "4.3.1"])
def both(request: pytest.FixtureRequest) -> tuple[str, str, str]:
    """Yield each release in turn, independent of the order of the tests."""
    found: tuple[str, str, str] = request.getfixturevalue({"3.9.2": "pair_3_9", "4.3.1": "pair_4_3"}[request.param])
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_a_tool_sees_no_difference(command: str, both: tuple[str, str, str], kafka_tool: KafkaTool) -> None:
    version, real, ours = both
    tool, arguments = COMMANDS[command]
    main_class = API_VERSIONS[version] if tool == "api versions" else tool
    printed = []
    for bootstrap in (real, ours):
        done = kafka_tool(main_class, *arguments.format(bootstrap=bootstrap).split(), version=version)
        assert done.exit_code == 0, done.stdout + done.stderr
        assert done.stdout.strip() or "find-hanging" in command or "cluster" in command
        printed.append(masked(done.stdout, bootstrap))
    assert printed[1] == printed[0]
