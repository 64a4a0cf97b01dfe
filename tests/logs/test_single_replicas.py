"""A cluster of one broker needs a lower minimum of in-sync replicas; no broker is missing there."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.incident import Incident
from tests.logs.judging import judge

BROKER = "[2026-05-11 {}] {} {} (kafka.server.X)\n"
REFUSED = (
    "org.apache.kafka.common.errors.NotEnoughReplicasException: The size of the current ISR {1} is insufficient to "
    "satisfy the min.isr requirement of 2 for partition {0}\n"
)
ELECTED = "[TransactionCoordinator id=1] Elected as the txn coordinator for partition 22 at epoch {}"
SHRUNK = "[Partition __transaction_state-22 broker=1] Shrinking ISR from 1,2 to 1. Leader: (highWatermark: 1)"
OF_THE_TOPIC = "--entity-name __transaction_state --add-config min.insync.replicas=1"


def shortage(folder: Path, *before: str, partition: str = "__transaction_state-22", isr: str = "Set(1)") -> Incident:
    text = "".join(BROKER.format("09:11:50,000", "INFO", line) for line in before)
    for second in range(2, 50, 8):
        refusal = f"[ReplicaManager broker=1] Error processing append operation on partition {partition}"
        text += BROKER.format(f"09:12:{second:02},110", "ERROR", refusal) + REFUSED.format(partition, isr)
    (found,) = (one for one in judge(folder, {"broker.log": text}) if one.kind == "not_enough_replicas")
    return found


@pytest.mark.parametrize("isr", ["Set(1)", ": 1"])
def test_a_new_partition_with_one_replica_needs_no_broker(isr: str, tmp_path: Path) -> None:
    found = shortage(tmp_path, ELECTED.format(0), isr=isr)
    assert found.root_cause == "min-isr-above-the-replicas"
    assert found.next_step.startswith("No broker is missing") and OF_THE_TOPIC in found.next_step


def test_a_later_election_leaves_both_reasons_possible(tmp_path: Path) -> None:
    found = shortage(tmp_path, ELECTED.format(4))
    assert found.root_cause == "fewer-replicas-in-sync-than-min-isr"
    assert found.next_step.startswith("If this is the only broker") and "start those that are down" in found.next_step


OTHER = "[Partition orders-1 broker=2] ISR updated to 2 and version updated to 1"


@pytest.mark.parametrize("line", [SHRUNK, OTHER])
def test_lost_replicas_and_other_brokers_are_missing(line: str, tmp_path: Path) -> None:
    assert "min.insync.replicas=1" not in shortage(tmp_path, ELECTED.format(0), line).next_step


def test_other_topics_are_named_in_the_command(tmp_path: Path) -> None:
    found = shortage(tmp_path, partition="orders-3")
    assert "--entity-name orders --add-config" in found.next_step and "transaction.state" not in found.next_step


CREATED = "Created topic (name=conf, numPartitions=1, replicationFactor={}, replicasAssignments=null) on brokers at {}"
SEVERAL = "k1.x:9092,k2.x:9092,k3.x:9092"


def test_a_topic_created_with_one_replica_misses_no_broker(tmp_path: Path) -> None:
    found = shortage(tmp_path, CREATED.format(1, SEVERAL), partition="conf-0")
    assert found.root_cause == "min-isr-above-the-replicas"
    assert "conf has a replication factor of 1, as broker.log shows" in found.explanation
    assert found.next_step.startswith("No broker is missing") and "names another broker" not in found.explanation


@pytest.mark.parametrize("line", [CREATED.format(3, SEVERAL), CREATED.format(1, SEVERAL).replace("=conf", "=conf-2")])
def test_listed_brokers_are_other_brokers(line: str, tmp_path: Path) -> None:
    found = shortage(tmp_path, line, partition="conf-0")
    assert found.root_cause == "fewer-replicas-in-sync-than-min-isr"
    assert "names another broker" not in found.explanation and "only broker" not in found.next_step


def test_listeners_of_one_broker_are_not_a_list_of_brokers(tmp_path: Path) -> None:
    listeners = "advertised.listeners = PLAIN://k1:9092,SSL://k1:9093"
    assert "If this is the only broker" in shortage(tmp_path, listeners, partition="conf-0").next_step


def test_a_request_that_times_out_meanwhile_is_not_its_own_fault(tmp_path: Path) -> None:
    head = "[2026-05-11 09:12:{},162] "
    retried = (
        "WARN [Producer clientId=producer-3] Got error produce response with correlation id {} on topic-partition "
        "conf-0, retrying (2147483646 attempts left). Error: NOT_ENOUGH_REPLICAS (o.a.k.c.Sender:6)\n"
    )
    call = (
        "ERROR Uncaught exception in REST call to /connectors (o.a.k.connect.runtime.rest.ConnectExceptionMapper:61)\n"
        "org.apache.kafka.connect.runtime.rest.errors.ConnectRestException: Request timed out\n"
    )
    lines = (head.format(10) + retried.format(4), head.format(40) + call, head.format(41) + retried.format(87))
    (found,) = judge(tmp_path, {"connect.log": "".join(lines)})
    assert found.kind == "not_enough_replicas"
