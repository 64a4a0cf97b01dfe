"""Faults in what brokers keep, on real brokers: damaged internal topics, thrashed ids, and topics deleted too early."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from eosctl.checks.operations.coordinator_log_not_loaded import coordinator_log_not_loaded
from eosctl.checks.operations.records_fail_checksum import records_fail_checksum
from eosctl.checks.transaction.initialized_again_and_again import initialized_again_and_again
from eosctl.checks.transaction.wrote_to_deleted_topic import wrote_to_deleted_topic
from eosctl.errors import ExitCode
from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.model.limits import Limits
from tests.commands.conftest import Done, eosctl

pytestmark = pytest.mark.usefixtures("own_home")

Running = Callable[..., AbstractContextManager[ApacheNodes]]
PATIENCE_S = 60
TOPIC, ID, GROUP = "orders", "app", "readers"
ONE_PARTITION = {"transaction.state.log.num.partitions": "1", "offsets.topic.num.partitions": "1"}
#: Where a batch of the record format of 0.11 and later has the number of its records.
COUNT_AT = 57
HEADER_BYTES = 12


def work(engine: ApacheNodes) -> None:
    """Commit transactions and offsets."""
    address = {"bootstrap.servers": engine.bootstrap}
    admin = AdminClient(address)  # a collected client drops its requests
    admin.create_topics([NewTopic(TOPIC, 1, 1)])[TOPIC].result(PATIENCE_S)
    producer = Producer({**address, "transactional.id": ID})
    producer.init_transactions(PATIENCE_S)
    for _ in range(3):
        producer.begin_transaction()
        producer.produce(TOPIC, b"value")
        producer.commit_transaction(PATIENCE_S)
    consumer = Consumer({**address, "group.id": GROUP})
    for offset in range(3):
        consumer.commit(offsets=[TopicPartition(TOPIC, 0, offset)], asynchronous=False)
    consumer.close()


def damage(engine: ApacheNodes, partition: str) -> None:
    """Change the number of records in the third batch of a partition, while its broker is down."""
    asyncio.run(engine.stop(1))
    (folder,) = engine.data_dirs().values()
    segment = folder / partition / "00000000000000000000.log"
    data, at = bytearray(segment.read_bytes()), 0
    for _ in range(2):
        at += HEADER_BYTES + int.from_bytes(data[at + 8 : at + HEADER_BYTES])
    data[at + COUNT_AT] ^= 0xFF
    segment.write_bytes(data)
    asyncio.run(engine.restart(1))


def doctor(engine: ApacheNodes) -> Done:
    return eosctl("doctor", "-b", engine.bootstrap, "-o", "json", "--require-complete", "--fail-on", "critical")


def found(done: Done, check_id: str, partition: str = "") -> dict[str, Any]:
    """Return the finding of a check about a partition; other coordinators may still load after the restart."""
    (item,) = [one for one in done.json["items"] if one["check_id"] == check_id and partition in one["message"]]
    finding: dict[str, Any] = item
    return finding


def load_failure(engine: ApacheNodes) -> dict[str, Any]:
    """Return the incident above information in the broker's logs."""
    (files,) = engine.logs().values()
    incidents = eosctl("logs", "report", files[0].parent, "-o", "json").json["incidents"]
    (incident,) = [one for one in incidents if one["severity"] != "info"]
    worst: dict[str, Any] = incident
    return worst


@pytest.mark.long
@pytest.mark.parametrize("version", ["3.9.2", "4.3.1"])
def test_a_damaged_transaction_log_is_named(version: str, apache_running: Running, tmp_path: Path) -> None:
    with apache_running(version, tmp_path / "kafka", ONE_PARTITION) as engine:
        work(engine)
        damage(engine, "__transaction_state-0")
        done = doctor(engine)
        finding = found(done, records_fail_checksum.id, "__transaction_state-0")
        incident = load_failure(engine)
    assert (finding["resource"]["name"], finding["severity"]) == ("__transaction_state-0", "critical")
    assert incident["kind"] == "coordinator_load_failed"
    assert incident["subject"]["topic-partition"] == "__transaction_state-0"


def test_groups_that_were_not_loaded_are_not_absent(apache_running: Running, tmp_path: Path) -> None:
    with apache_running("4.3.1", tmp_path / "kafka", ONE_PARTITION) as engine:
        work(engine)
        before = doctor(engine)
        damage(engine, "__consumer_offsets-0")
        done = doctor(engine)
        listed = eosctl("group", "list", "-b", engine.bootstrap, "-o", "json").json
        incident = load_failure(engine)
    assert before.code is ExitCode.DONE, before.out
    assert done.code is ExitCode.INCOMPLETE
    finding = found(done, coordinator_log_not_loaded.id, "__consumer_offsets-0")
    assert (finding["severity"], finding["facts"]["partitions"]) == ("error", 1)
    assert [gap["subject"] for gap in listed["evidence"]["gaps"]] == ["__consumer_offsets-0"]
    assert incident["kind"] == "coordinator_load_failed"


def test_thrash_and_a_deleted_topic_are_named(apache_running: Running, tmp_path: Path) -> None:
    with apache_running("4.3.1", tmp_path / "kafka", ONE_PARTITION) as engine:
        work(engine)
        address = {"bootstrap.servers": engine.bootstrap}
        for _ in range(Limits().initialization_count):
            Producer({**address, "transactional.id": "thrashed"}).init_transactions(PATIENCE_S)
        admin = AdminClient(address)
        admin.create_topics([NewTopic("gone", 1, 1)])["gone"].result(PATIENCE_S)
        producer = Producer({**address, "transactional.id": "late", "transaction.timeout.ms": 600_000})
        producer.init_transactions(PATIENCE_S)
        producer.begin_transaction()
        for topic in ("gone", TOPIC):
            producer.produce(topic, b"value")
        assert producer.flush(PATIENCE_S) == 0
        admin.delete_topics(["gone"])["gone"].result(PATIENCE_S)
        done = doctor(engine)
    assert found(done, initialized_again_and_again.id)["facts"]["transactional_id"] == "thrashed"
    deleted = found(done, wrote_to_deleted_topic.id)
    assert (deleted["facts"]["transactional_id"], deleted["facts"]["partitions"]) == ("late", "gone-0")
