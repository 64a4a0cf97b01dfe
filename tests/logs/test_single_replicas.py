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
