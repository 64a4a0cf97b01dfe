"""Faults that slow a cluster down and do not stop it, on real brokers: the doctor names each, and who caused it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from eosctl.checks.configuration.broker.transactional_ids_expire_early import transactional_ids_expire_early
from eosctl.checks.operations.quota_stalls_producers import quota_stalls_producers
from eosctl.checks.operations.replication_throttled import replication_throttled
from eosctl.checks.transaction.fenced_mid_transaction import fenced_mid_transaction
from eosctl.checks.transaction.long_running_transaction import long_running_transaction
from eosctl.lab.apache.nodes import ApacheNodes
from tests.apache.conftest import KafkaTool
from tests.checks.mistakes import commit_once_coordinated
from tests.commands.conftest import eosctl

pytestmark = pytest.mark.usefixtures("own_home")

Running = Callable[..., AbstractContextManager[ApacheNodes]]
PATIENCE_S = 60
CONFIGS = "kafka.admin.ConfigCommand"
REASSIGN = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"


def findings(engine: ApacheNodes) -> dict[str, dict[str, Any]]:
    """Return the first finding of each check."""
    done = eosctl("doctor", "-b", engine.bootstrap, "-o", "json", "--exit-zero")
    return {one["check_id"]: one for one in reversed(done.json["items"])}


def test_quotas_throttles_and_settings_are_named(
    apache_running: Running, kafka_tool: KafkaTool, tmp_path: Path
) -> None:
    risky = {"transactional.id.expiration.ms": "20000"}
    with apache_running("4.3.1", tmp_path / "kafka", risky, node_count=2) as engine:
        here, there = (broker.broker_id for broker in engine.brokers())
        address = {"bootstrap.servers": engine.bootstrap}
        admin = AdminClient(address)
        admin.create_topics([NewTopic("orders", 1, replica_assignment=[[here]])])["orders"].result(PATIENCE_S)
        producer = Producer({**address, "transactional.id": "shop"})
        producer.init_transactions(PATIENCE_S)
        producer.begin_transaction()
        for _ in range(4):
            producer.produce("orders", bytes(500_000))
        producer.commit_transaction(PATIENCE_S)
        producer.begin_transaction()
        producer.produce("orders", b"left behind")
        assert producer.flush(PATIENCE_S) == 0
        fenced = eosctl("txn", "fence", "shop", "--yes", "-b", engine.bootstrap)
        assert fenced.code == 0, fenced.err
        quota = ("--entity-type", "clients", "--entity-name", "payments", "--add-config", "producer_byte_rate=1000")
        kafka_tool(CONFIGS, "--bootstrap-server", engine.bootstrap, "--alter", *quota)
        plan = tmp_path / "plan.json"
        plan.write_text(
            json.dumps({"version": 1, "partitions": [{"topic": "orders", "partition": 0, "replicas": [there]}]})
        )
        move = ("--bootstrap-server", engine.bootstrap, "--reassignment-json-file", str(plan))
        kafka_tool(REASSIGN, *move, "--execute", "--throttle", "1000")
        moving = findings(engine)
        kafka_tool(REASSIGN, *move, "--cancel", "--preserve-throttles")
        left = findings(engine)
    assert moving[quota_stalls_producers.id]["resource"]["name"] == "client-id payments"
    assert moving[quota_stalls_producers.id]["severity"] == "warning"
    assert moving[transactional_ids_expire_early.id]["severity"] == "error"
    by_eosctl = moving[fenced_mid_transaction.id]
    assert (by_eosctl["severity"], "eosctl" in by_eosctl["message"]) == ("info", True)
    assert moving[replication_throttled.id]["severity"] == "info"
    assert left[replication_throttled.id]["severity"] == "warning"
    assert {moving[replication_throttled.id]["facts"]["topics"], left[replication_throttled.id]["facts"]["topics"]} == {
        "orders"
    }


@pytest.mark.long
def test_readers_behind_a_dead_producer(apache_running: Running, tmp_path: Path) -> None:
    with apache_running("4.3.1", tmp_path / "kafka", {"transaction.max.timeout.ms": "3600000"}) as engine:
        address = {"bootstrap.servers": engine.bootstrap}
        admin = AdminClient(address)
        admin.create_topics([NewTopic("orders", 1, 1)])["orders"].result(PATIENCE_S)
        reader = Consumer({**address, "group.id": "readers", "enable.auto.commit": False})
        producer = Producer({**address, "transactional.id": "shop", "transaction.timeout.ms": 3_600_000})
        producer.init_transactions(PATIENCE_S)
        producer.begin_transaction()
        producer.produce("orders", b"left behind")
        assert producer.flush(PATIENCE_S) == 0
        commit_once_coordinated(reader, TopicPartition("orders", 0, 0))
        reader.close()
        severities: list[str] = []
        while "warning" not in severities:  # it is old enough after five minutes
            if (found := findings(engine).get(long_running_transaction.id)) is not None:
                assert "readers" in json.dumps(found)
                severities.append(found["severity"])
            time.sleep(5)
    assert severities[0] == "info"
