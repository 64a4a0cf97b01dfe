"""A follower whose requests to the leader fail, and the partitions below min.insync.replicas that follow."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

FETCH = (
    "[2026-03-01 10:0{}] WARN [ReplicaFetcher replicaId=5, leaderId=4, fetcherId=0] Error in response for fetch "
    "request (type=FetchRequest, replicaId=5, maxWait=500) (kafka.server.ReplicaFetcherThread)\n"
    "java.io.IOException: Connection to 4 was disconnected before the response was read\n"
)
SHRINK = (
    "[2026-03-01 10:01:30,000] INFO [Partition __transaction_state-9 broker=4] Shrinking ISR from 4,{} to 4. Leader: "
    "(highWatermark: 7, endOffset: 9). Out of sync replicas: (brokerId: {}, endOffset: 7, lastCaughtUpTimeMs: 1). "
    "(kafka.cluster.Partition)\n"
)
REFUSED = (
    "[2026-03-01 10:01:{},000] ERROR [ReplicaManager broker=4] Error processing append operation on partition "
    "__transaction_state-9 (kafka.server.ReplicaManager)\norg.apache.kafka.common.errors.NotEnoughReplicasException: "
    "The size of the current ISR Set(4) is insufficient to satisfy the min.isr requirement of 2 for partition "
    "__transaction_state-9\n"
)


@pytest.mark.parametrize(("gone", "count"), [("5", 1), ("6", 2)], ids=["its own", "another"])
def test_requests_of_a_follower_that_left(gone: str, count: int, tmp_path: Path) -> None:
    leader = SHRINK.format(gone, gone) + "".join(REFUSED.format(second) for second in range(31, 50, 3))
    follower = "".join(FETCH.format(at) for at in ("0:40,000", "1:10,000"))
    found = judge(tmp_path, {"broker-4/server.log": leader, "broker-5/server.log": follower})
    assert len(found) == count
    (shortage,) = (one for one in found if one.kind == "not_enough_replicas")
    assert ("requests of broker 5 to other brokers failed" in shortage.explanation) is (count == 1)


SHRUNK = (
    "[2026-06-09 05:00:00,000] INFO [Partition __transaction_state-9 broker=3] Shrinking ISR from 1,3 to 3. Leader: "
    "(highWatermark: 10, endOffset: 12). Out of sync replicas: (brokerId: 1, endOffset: 10, lastCaughtUpTimeMs: 1). "
    "(kafka.cluster.Partition)\n"
)
APPEND = (
    "[2026-06-09 05:00:{:02},000] ERROR [ReplicaManager broker=3] Error processing append operation on partition "
    "__transaction_state-9 (kafka.server.ReplicaManager)\n"
    "org.apache.kafka.common.errors.NotEnoughReplicasException: The size of the current ISR Set(3) is insufficient to "
    "satisfy the min.isr requirement of 2 for partition __transaction_state-9\n"
)


def test_replicas_that_left_are_not_brokers_that_are_down(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"server.log": SHRUNK + "".join(map(APPEND.format, (2, 6, 10)))})
    assert (found.kind, found.root_cause) == ("not_enough_replicas", "replicas-out-of-sync")
    assert "no log here shows one that is down" in found.next_step
