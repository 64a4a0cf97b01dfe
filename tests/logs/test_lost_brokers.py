"""A killed process is the broker to which the others lost their connections, and a shortage lasts until its return."""

from __future__ import annotations

from pathlib import Path

from tests.logs.judging import judge

KILLED = (
    "Apr 22 07:15:02 rack-c kernel: Memory cgroup out of memory: Killed process 20117 ({}) total-vm:9912044kB, "
    "anon-rss:4180112kB, file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:9120kB oom_score_adj:986\n"
)
LOST = (
    "[2026-04-22 07:15:02,771] WARN [ReplicaFetcher replicaId=1, leaderId=3, fetcherId=0] Error in response for fetch "
    "request (type=FetchRequest, replicaId=1) (kafka.server.ReplicaFetcherThread)\n"
    "java.io.IOException: Connection to 3 was disconnected before the response was read\n"
)
SHRUNK = (
    "[2026-04-22 07:15:12,900] INFO [Partition tolls-2 broker=1] Shrinking ISR from 1,3 to 1. Leader: (highWatermark: "
    "5120, endOffset: 5128). Out of sync replicas: (brokerId: 3, endOffset: 5120). (kafka.cluster.Partition)\n"
)
REFUSED = (
    "[2026-04-22 07:{},002] ERROR [ReplicaManager broker=1] Error processing append operation on partition tolls-2 "
    "(kafka.server.ReplicaManager)\norg.apache.kafka.common.errors.NotEnoughReplicasException: The size of the current "
    "ISR Set(1) is insufficient to satisfy the min.isr requirement of 2 for partition tolls-2\n"
)
GROWN = (
    "[2026-04-22 07:{},440] INFO [Partition tolls-2 broker=1] Expanding ISR from 1 to 1,3 (kafka.cluster.Partition)\n"
)
SHORT = SHRUNK + REFUSED.format("15:14") + REFUSED.format("16:04")


def test_a_killed_process_is_the_broker_that_was_lost(tmp_path: Path) -> None:
    (one,) = judge(
        tmp_path, {"journal.log": KILLED.format("java"), "kafka-1.log": LOST + SHORT + GROWN.format("16:31")}
    )
    assert (one.kind, one.subject["broker"], one.subject["topic-partition"]) == ("out_of_memory", "3", "tolls-2")
    assert "Most likely it was broker 3" in one.explanation
    assert "in sync again at 2026-04-22T07:16:31.440Z" in one.explanation


def test_another_killed_process_is_not_a_broker(tmp_path: Path) -> None:
    found = judge(tmp_path, {"journal.log": KILLED.format("python3"), "kafka-1.log": LOST + SHORT})
    assert {one.kind: one.subject.get("broker") for one in found if one.kind == "out_of_memory"} == {
        "out_of_memory": None
    }
    assert "not_enough_replicas" in {one.kind for one in found}


def test_refusals_far_apart_are_one_shortage(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"kafka-1.log": SHORT + GROWN.format("16:31")})
    assert (one.kind, one.subject["topic-partition"]) == ("not_enough_replicas", "tolls-2")
    assert one.t_end_ms - one.t_start_ms == 51_102


def test_a_return_in_between_ends_a_shortage(tmp_path: Path) -> None:
    log = SHRUNK + REFUSED.format("15:14") + GROWN.format("15:20") + REFUSED.format("16:04")
    for one in judge(tmp_path, {"kafka-1.log": log}):
        assert one.root_cause != "replicas-out-of-sync"
        assert "in sync again" not in one.explanation
