"""Doctor reads and changes nothing: shown by what goes over the wire, and by what the cluster holds afterwards."""

from __future__ import annotations

import ast
import random
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

import eosctl as eosctl_package
from eosctl.collect.allowed import READ_ONLY_APIS
from eosctl.testing import SandboxThread
from eosctl.wire.api_keys import ApiKey
from tests.commands.conftest import eosctl, run_scenario
from tests.commands.doctor.recording_proxy import RecordingProxy
from tests.lab.scenarios.stage.hanging import run_hanging

REQUESTS_PER_BROKER = 60  # with two readings, twelve topics and two groups; grows with partitions, not with records
COMMANDS = (
    ("doctor",),
    ("txn", "list"),
    ("txn", "hanging"),
    ("txn", "producers"),
    ("txn", "describe", "shop-0"),
    ("txn", "blame", "shop-0"),
    ("group", "lag"),
    ("group", "pending"),
)


@pytest.fixture
def cluster() -> Any:
    with SandboxThread(brokers=3, fast=False, config={"auto.create.topics.enable": "true"}) as running:
        yield running


def fill(bootstrap: str, chance: random.Random) -> dict[str, int]:
    """Put topics with random names and sizes, groups, and open and ended transactions into a cluster."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    topics = {f"shop.{chance.getrandbits(40):x}": chance.randint(1, 9) for _ in range(chance.randint(6, 10))}
    for created in admin.create_topics([NewTopic(name, count) for name, count in topics.items()]).values():
        created.result(20)
    for number in range(3):
        producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": f"shop-{number}"})
        producer.init_transactions(20)
        for _ in range(chance.randint(1, 4)):
            producer.begin_transaction()
            for _ in range(chance.randint(1, 30)):
                name, count = chance.choice(sorted(topics.items()))
                producer.produce(name, chance.randbytes(20), partition=chance.randrange(count))
            chance.choice((producer.commit_transaction, producer.abort_transaction))(20)
    name, count = chance.choice(sorted(topics.items()))
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "shop-readers", "enable.auto.commit": False})
    consumer.commit(offsets=[TopicPartition(name, index, 0) for index in range(count)], asynchronous=False)
    consumer.close()
    return topics


def contents(cluster: SandboxThread) -> list[dict[str, Any]]:
    """Return every partition's offsets and open transactions, internal topics included.

    Who leads and follows is left out: on a busy machine a cluster elects for reasons of its own.
    """
    kept = (
        "topic",
        "partition",
        "replicas",
        "high_watermark",
        "last_stable_offset",
        "log_end_offset",
        "open_transactions",
    )
    partitions = [{name: one[name] for name in kept} for one in cluster.status()["partitions"]]
    return sorted(partitions, key=lambda p: (p["topic"], p["partition"]))


@pytest.mark.parametrize("seed", [11])
def test_only_reading_requests_are_sent_and_nothing_moves(seed: int, cluster: SandboxThread) -> None:
    chance = random.Random(seed)
    topics = fill(cluster.bootstrap, chance)
    before = contents(cluster)
    assert {p["topic"] for p in before} > set(topics)
    with RecordingProxy(cluster.bootstrap) as proxy:
        for command in COMMANDS:
            done = eosctl(*command, "-b", proxy.bootstrap)
            assert done.code in (0, 3), done.err
            assert proxy.requests
            assert proxy.apis <= READ_ONLY_APIS
            assert max(proxy.per_broker().values()) <= REQUESTS_PER_BROKER, proxy.per_broker()
            assert all(not message.allow_auto_topic_creation for message in proxy.messages(ApiKey.METADATA))
            proxy.requests.clear()
    assert contents(cluster) == before


def test_an_empty_cluster_stays_empty(cluster: SandboxThread) -> None:
    with RecordingProxy(cluster.bootstrap) as proxy:
        assert eosctl("doctor", "-b", proxy.bootstrap).code == 0
        assert eosctl("txn", "describe", "nobody", "-b", proxy.bootstrap).code == 2
        assert proxy.apis <= READ_ONLY_APIS
    assert contents(cluster) == []  # in particular, no internal topic was created


def test_the_list_holds_nothing_that_writes_joins_or_creates() -> None:
    changing = ("CREATE", "DELETE", "ALTER", "JOIN", "LEAVE", "SYNC", "HEARTBEAT", "COMMIT", "PRODUCE", "ADD", "END")
    changing += ("INIT", "ELECT", "UPDATE", "WRITE", "ALLOCATE", "FIND")
    assert not [api.name for api in READ_ONLY_APIS if api.name.startswith(changing) or "COMMIT" in api.name]


def test_faults_are_found_with_any_names_and_offsets() -> None:
    """Nothing in the verdict may depend on the names that the scenarios and demos use."""
    chance = random.Random()
    with SandboxThread(brokers=3, fast=False, config={"transaction.partition.verification.enable": "false"}) as cluster:
        fill(cluster.bootstrap, chance)
        report: Any = run_scenario(cluster.bootstrap, run_hanging)
        diagnosis = eosctl("doctor", "-b", cluster.bootstrap, "-o", "json")
    assert diagnosis.code == 3, diagnosis.err
    hanging = [one for one in diagnosis.json["items"] if one["check_id"] == "EOS-TXN-001"]
    assert len(hanging) == 1
    text = str(hanging)
    assert str(report.producer.producer_id) in text
    assert report.partition.topic in text


PACKAGE = Path(eosctl_package.__file__).parent
PACKAGES = ("collect", "analysis", "checks")


def names_in(source: str) -> set[str]:
    """Return the words of identifiers, imports and texts that are not documentation."""
    tree = ast.parse(source)
    documented = {
        node.body[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    found: set[str] = set()
    for node in ast.walk(tree):
        if node in documented:
            continue
        for value in (getattr(node, field, None) for field in ("id", "attr", "name", "module", "value", "arg")):
            if isinstance(value, str):
                found.add(value.lower())
    return found


def test_packages_that_judge_do_not_import_the_sandbox() -> None:
    knowing = [
        str(path.relative_to(PACKAGE))
        for package in PACKAGES
        for path in (PACKAGE / package).rglob("*.py")
        if any("sandbox" in name or "scenario" in name for name in names_in(path.read_text("utf-8")))
    ]
    assert knowing == []
