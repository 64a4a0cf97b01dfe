"""Refused markers that only the partition's leader reports, and unclean elections by topic id."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

REFUSED = (
    "[2026-11-20 10:00:06,160] INFO [ReplicaManager broker=1] Error processing append operation on partition "
    "0OsGEvBWT4SBz1HJ2GZKAA:crates-7 (kafka.server.ReplicaManager)\n"
    "org.apache.kafka.common.errors.InvalidProducerEpochException: Epoch of producer 6230 at offset 70411 in crates-7 "
    "is {}, which is {} the last seen epoch 23 ({})\n"
)
ELECTED = (
    "[2026-11-20 10:00:0{},470] INFO [QuorumController id=1] Setting new leader for topicId Vd2GEvBWT4SBz1HJ2GZKAA, "
    "partition {} to 4 using an unclean election{} (org.apache.kafka.controller.PartitionChangeBuilder)\n"
)


@pytest.mark.parametrize(("epoch", "compared", "version"), [(23, "<=", "TV2"), (22, "<", "TV1"), (21, "<", "TV0")])
def test_a_refusal_with_a_version_is_about_a_marker(tmp_path: Path, epoch: int, compared: str, version: str) -> None:
    (found,) = judge(tmp_path, {"server.log": REFUSED.format(epoch, compared, version)})
    assert (found.kind, found.subject["topic-partition"]) == ("transaction_marker_refused", "crates-7")
    assert found.subject["producerId"] == "6230"
    assert "txn hanging" in found.next_step


def test_a_refusal_of_data_is_about_a_process(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"server.log": REFUSED.format(22, "<", "TV-1")})
    assert found.root_cause == "zombie-writer"


@pytest.mark.parametrize("end", ["", ". Previous partition: PartitionRegistration(replicas=[1, 4]), change record: x"])
def test_an_unclean_election_names_the_topic_id(tmp_path: Path, end: str) -> None:
    (found,) = judge(tmp_path, {"controller.log": ELECTED.format(3, 7, end)})
    assert (found.subject["topicId"], found.subject["partition"]) == ("Vd2GEvBWT4SBz1HJ2GZKAA", "7")
    assert "partition 7 of the topic with id Vd2GEvBWT4SBz1HJ2GZKAA" in found.explanation


def test_elections_of_a_topic_are_one_incident(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"controller.log": ELECTED.format(3, 7, "") + ELECTED.format(4, 9, "")})
    assert found.subject["partitions"] == ("7", "9")


def test_an_election_by_name_and_by_id_is_one_incident(tmp_path: Path) -> None:
    named = (
        "[2026-11-20 10:00:03,491] INFO [QuorumController id=1] UNCLEAN partition change for ledger-7 with topic ID "
        "Vd2GEvBWT4SBz1HJ2GZKAA: isr: [2] -> [3], leader: 2 -> 3 "
        "(org.apache.kafka.controller.ReplicationControlManager)\n"
    )
    (found,) = judge(tmp_path, {"controller.log": ELECTED.format(3, 7, "") + named})
    assert found.subject["topic-partition"] == "ledger-7"
    assert "topicId" not in found.subject
