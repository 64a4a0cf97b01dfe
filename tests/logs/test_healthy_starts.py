"""Starts and restarts as planned: what a client retries until it succeeds is not an incident and calls for nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.logs.incidents.judge import judge_logs
from eosctl.logs.scan import scan_paths
from tests.logs.judging import judge

MOVED_COORDINATOR = (
    "[2026-02-03 09:00:01,000] INFO [Consumer clientId=tiles-1, groupId=tiles] Node 1 disconnected. (o.a.k.Network)\n"
    "[2026-02-03 09:00:02,000] ERROR [Consumer clientId=tiles-1, groupId=tiles] Offset commit failed on partition "
    "tiles.cut-1 at offset 7: This is not the correct coordinator. (o.a.k.ConsumerCoordinator)\n"
    "[2026-02-03 09:00:03,000] INFO [Consumer clientId=tiles-1, groupId=tiles] Discovered group coordinator "
    "kb-2:9092 (id: 2147483645 rack: null) (o.a.k.ConsumerCoordinator)\n"
    "[2026-02-03 09:04:00,000] INFO Cut 8 tiles. (com.example.Cutter)\n"
)


def test_a_commit_that_java_repeats_calls_for_nothing(tmp_path: Path) -> None:
    (tmp_path / "tiles.log").write_text(MOVED_COORDINATOR)
    scan = scan_paths([tmp_path])
    assert judge_logs(scan.events, scan.sources) == ((), ())


def test_a_commit_that_a_program_reports_stays_open(tmp_path: Path) -> None:
    own = "[2026-02-03 09:00:04,000] ERROR Commit failed: This is not the correct coordinator. (com.example.Cutter)\n"
    (tmp_path / "tiles.log").write_text(own + MOVED_COORDINATOR)
    scan = scan_paths([tmp_path])
    judgment = judge_logs(scan.events, scan.sources)
    assert [event.line for event in judgment.unexplained] == [1]


MISSED = {
    "php": (
        '[2026-02-03 09:00:0{}] local.WARNING: Consumer error {{"err":3,"errstr":"Subscribed topic not available: '
        'tiles.cut: Broker: Unknown topic or partition"}}\n'
    ),
    "librdkafka": (
        '2026-02-03 09:00:0{},100 ERROR cutter: KafkaError{{code=UNKNOWN_TOPIC_OR_PART,val=3,str="Subscribed topic not '
        'available: tiles.cut: Broker: Unknown topic or partition"}}\n'
    ),
    "java": (
        "[2026-02-03 09:00:0{},200] WARN [Consumer clientId=tiles-1, groupId=tiles] Error while fetching metadata with "
        "correlation id 7 : {{tiles.cut=UNKNOWN_TOPIC_OR_PARTITION}} (org.apache.kafka.clients.NetworkClient)\n"
    ),
}
ASSIGNED = {
    "php": '[2026-02-03 09:00:09] local.INFO: Partitions assigned {"tiles.cut":[0,1]}\n',
    "librdkafka": "2026-02-03 09:00:09,100 INFO cutter: Assigned partitions: [tiles.cut [0]]\n",
    "java": (
        "[2026-02-03 09:00:09,200] INFO [Consumer clientId=tiles-1, groupId=tiles] Adding newly assigned partitions: "
        "tiles.cut-0, tiles.cut-1 (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)\n"
    ),
}


@pytest.mark.parametrize("client", MISSED)
def test_a_topic_that_is_assigned_soon_was_created(client: str, tmp_path: Path) -> None:
    missed = MISSED[client].format(1) + MISSED[client].format(3)
    assert judge(tmp_path, {"cutter.log": missed + ASSIGNED[client]}) == []


@pytest.mark.parametrize("client", ["php", "librdkafka"])
@pytest.mark.parametrize(
    "replacement", [("tiles.cut", "tiles.cut.dlq"), ("ssigned", "revoked"), ("09:00:09", "11:00:09")], ids=str
)
def test_another_assignment_does_not_find_a_topic(client: str, replacement: tuple[str, str], tmp_path: Path) -> None:
    missed = "".join(map(MISSED[client].format, (1, 3)))
    (one,) = judge(tmp_path, {"cutter.log": missed + ASSIGNED[client].replace(*replacement)})
    assert one.kind == "topic_not_found"


NEW_MEMBER_ID = (
    '{"level":"ERROR","timestamp":"2026-02-03T09:32:24.533Z","logger":"kafkajs","message":"[Connection] Response '
    'JoinGroup(key: 11, version: 5)","clientId":"tiles","error":"The coordinator is not aware of this member"}\n'
    '{"level":"INFO","timestamp":"2026-02-03T09:32:27.611Z","logger":"kafkajs","message":"[ConsumerGroup] Consumer '
    'has joined the group","groupId":"tiles"}\n'
)
DETACHED_TABLE = (
    "2026.02.03 03:20:00.107310 [ 31044 ] {b7f2} <Error> StorageKafka (tiles_in): Error during draining: Local: "
    "Maximum application poll interval (max.poll.interval.ms) exceeded\n"
    "2026.02.03 03:20:00.409911 [ 31044 ] {b7f2} <Trace> StorageKafka (tiles_in): Consumer closed.\n"
)


@pytest.mark.parametrize("text", [NEW_MEMBER_ID, DETACHED_TABLE])
def test_a_join_with_a_new_id_and_a_closed_table_are_not_faults(text: str, tmp_path: Path) -> None:
    (tmp_path / "tiles.log").write_text(text)
    scan = scan_paths([tmp_path])
    assert judge_logs(scan.events, scan.sources) == ((), ())
