"""The broker that a client cannot reach is named where a partition has too few in-sync replicas."""

from __future__ import annotations

from pathlib import Path

from tests.logs.judging import judge

CLIENT = "2026-07-03 {},000 WARN [Producer clientId={}] {} (org.apache.kafka.clients.{})\n"
NOT_REACHED = "Connection to node 7 (bus-7.bus/10.9.0.7:9092) could not be established. Node may not be available."
REFUSED = (
    "Got error produce response with correlation id 12 on topic-partition tolls-3, retrying (90 attempts left). Error: "
    "NOT_ENOUGH_REPLICAS"
)
GAVE_UP = (
    "2026-07-03 04:02:20,000 ERROR Error when sending message to topic tolls with key: 6 bytes, value: 41 bytes with "
    "error: (org.apache.kafka.clients.producer.internals.ErrorLoggingCallback)\n"
    "org.apache.kafka.common.errors.TimeoutException: Expiring 3 record(s) for tolls-3:120000 ms has passed since "
    "batch creation\n"
)
REFUSALS = "".join(
    CLIENT.format(f"04:00:{second}", "gate-1", REFUSED, "producer.internals.Sender") for second in (20, 30, 40)
)


def unreached(client: str, at: str = "04:00:02") -> str:
    return CLIENT.format(at, client, NOT_REACHED, "NetworkClient")


def test_a_broker_that_cannot_be_reached_is_named(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"gate.log": unreached("gate-1") + REFUSALS + GAVE_UP})
    assert (one.kind, one.subject["servers"], one.subject["out-of-sync"]) == (
        "not_enough_replicas",
        ("bus-7.bus/10.9.0.7:9092",),
        ("7",),
    )
    assert "could not connect to node 7 (bus-7.bus/10.9.0.7:9092) at 2026-07-03T04:00:02.000Z" in one.explanation
    assert "no log here shows one" not in one.next_step
    assert one.evidence[0].line == 1


def test_without_such_a_record_none_is_named(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"gate.log": REFUSALS + GAVE_UP})
    assert "servers" not in one.subject
    assert "no log here shows one that is down" in one.next_step


def test_a_client_of_another_cluster_names_none(tmp_path: Path) -> None:
    for one in judge(tmp_path, {"gate.log": unreached("mirror-source") + REFUSALS + GAVE_UP}):
        assert "out-of-sync" not in one.subject


def test_an_outage_of_the_day_before_names_none(tmp_path: Path) -> None:
    for one in judge(tmp_path, {"gate.log": unreached("gate-1", "01:00:02") + REFUSALS + GAVE_UP}):
        assert "out-of-sync" not in one.subject


def test_transactions_are_mentioned_where_some_wait(tmp_path: Path) -> None:
    (one,) = judge(tmp_path / "plain", {"gate.log": REFUSALS + GAVE_UP})
    assert "transactions" not in one.next_step
    named = (REFUSALS + GAVE_UP).replace("clientId=gate-1", "clientId=gate-1, transactionalId=gate-1")
    (one,) = judge(tmp_path / "named", {"gate.log": named})
    assert "Waiting transactions then end by themselves" in one.next_step


TITLE = "# GATE-12 gate is fenced by a newer instance, transactional.id `gate-1`\n\nWe run one replica.\n\n```\n"
BEGUN = "2026-07-03 04:00:00,000 INFO gate: transaction begun\n"
FENCED = (
    "2026-07-03 04:02:00,000 ERROR gate: commit failed: This instance has been fenced by a newer instance (_FENCED)\n"
)


def test_a_title_is_not_a_record(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"gate.txt": TITLE + BEGUN + FENCED + "```\n"})
    assert one.t_start_ms == one.t_end_ms == 1_783_051_320_000
    assert one.subject["transactional.id"] == "gate-1"
    assert [place.line for place in one.evidence] == [6, 7]


def test_a_title_without_records_of_its_fault_is_judged(tmp_path: Path) -> None:
    found = judge(tmp_path, {"gate.txt": TITLE + BEGUN + "```\n"})
    assert [one.kind for one in found] == ["producer_fenced"]


SHRUNK = (
    "[2026-07-03 04:00:{},100] INFO [Partition tolls-3 broker=1] Shrinking ISR from 1,7,9 to 1,9. Leader: ("
    "highWatermark: 5, endOffset: 6). Out of sync replicas: (brokerId: 7, endOffset: 5). (kafka.cluster.Partition)\n"
)
TOO_FEW = (
    "[2026-07-03 04:0{},002] ERROR [ReplicaManager broker=1] Error processing append operation on partition tolls-3 "
    "(kafka.server.ReplicaManager)\norg.apache.kafka.common.errors.NotEnoughReplicasException: The size of the current "
    "ISR Set(1, 9) is insufficient to satisfy the min.isr requirement of 3 for partition tolls-3\n"
)


def test_a_replica_that_left_and_cannot_be_reached(tmp_path: Path) -> None:
    server = SHRUNK.format("12") + TOO_FEW.format("0:20") + TOO_FEW.format("1:30")
    (one,) = judge(tmp_path, {"kb-1.log": server, "gate.log": unreached("gate-1") + REFUSALS + GAVE_UP})
    assert one.subject["out-of-sync"] == ("7",)
    assert "could not connect to node 7" in one.explanation
    assert "most likely the replicas" not in one.explanation
    assert "no log here shows one" not in one.next_step


def test_another_broker_that_cannot_be_reached_is_not_named(tmp_path: Path) -> None:
    server = SHRUNK.format("12") + TOO_FEW.format("0:20") + TOO_FEW.format("1:30")
    other = unreached("gate-1").replace("node 7", "node 4").replace("bus-7", "bus-4")
    for one in judge(tmp_path, {"kb-1.log": server, "gate.log": other + REFUSALS + GAVE_UP}):
        assert "node 4" not in one.explanation or one.kind != "not_enough_replicas"
