"""Programs that log their transactional id, or the refusal of a write, in their own words."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.logs.scan import scan_paths
from tests.logs.judging import judge

COORDINATOR = "(kafka.coordinator.transaction.TransactionCoordinator)"
ANNOUNCED = (
    "writer {} registered: pid {}, epoch 0",
    "up, tx={}, pid={}",
    "writes go out under <{}> ({}).",
    'session "{}": {}',
)


def broker(*ids: str) -> str:
    return "".join(
        "[2026-11-21 09:29:30,437] INFO [TransactionCoordinator id=1] "
        f"Initialized transactionalId {one} with producerId "
        f"{number} and producer epoch 0 on partition __transaction_state-3 {COORDINATOR}\n"
        for number, one in enumerate(ids, 14)
    )


def writer(announced: str, answer: str) -> str:
    return (
        f"[2026-11-21 09:29:30,907] [30954] [INFO] wire.probe: {announced}\n"
        "[2026-11-21 09:29:33,177] [30954] [INFO] wire.probe: 8 samples delivered\n"
        f"[2026-11-21 09:29:40,420] [30954] [ERROR] wire.probe: {answer}\n"
    )


@pytest.mark.parametrize("words", ANNOUNCED)
def test_programs_that_start_together_keep_their_announced_ids(words: str, tmp_path: Path) -> None:
    answer = "broker said INVALID_PRODUCER_EPOCH to our write of the former writer (pulses-1)"
    files = {
        "broker-1/server.log": broker("loop.one.sensor-9", "loop.two.sensor-9"),
        "edge.log": writer(words.format("loop.one.sensor-9", 14), answer),
        "edge-2.log": writer(words.format("loop.two.sensor-9", 15), answer),
    }
    found = judge(tmp_path, files)
    assert sorted((one.kind, one.subject["transactional.id"], one.subject["producerId"]) for one in found) == [
        ("invalid_producer_epoch", "loop.one.sensor-9", "14"),
        ("invalid_producer_epoch", "loop.two.sensor-9", "15"),
    ]


def test_a_log_that_begins_with_several_ids_has_no_owner(tmp_path: Path) -> None:
    announced = "writers loop.one.sensor-9 and loop.two.sensor-9 registered"
    files = {
        "broker-1/server.log": broker("loop.one.sensor-9", "loop.two.sensor-9"),
        "edge.log": writer(announced, "broker said INVALID_PRODUCER_EPOCH to our write (pulses-1)"),
    }
    assert ["transactional.id" in one.subject for one in judge(tmp_path, files)] == [False]


def test_a_writer_reports_its_late_write_in_its_own_words(tmp_path: Path) -> None:
    answer = "broker said TRANSACTION_ABORTABLE to our straggler of a transaction that is over (pulses-1)"
    files = {"broker-1/server.log": broker("late.one"), "edge.log": writer("writer late.one registered", answer)}
    assert [(one.kind, one.subject) for one in judge(tmp_path, files)] == [
        ("late_append_refused", {"transactional.id": "late.one", "producerId": "14"})
    ]


def test_an_id_in_the_first_lines_is_known_from_the_start(tmp_path: Path) -> None:
    """The first event is too late: by then another instance has taken the id."""
    identity = "with producerId 7 and producer epoch {} on partition __transaction_state-5"
    taken = "".join(
        f"[2026-11-23 18:23:{at}] INFO [TransactionCoordinator id=5] Initialized transactionalId copy.d3.x "
        f"{identity.format(epoch)} (kafka.coordinator.transaction.TransactionCoordinator)\n"
        for epoch, at in enumerate(("00,863", "20,450"))
    )
    fenced = "Fatal error: Local: This instance has been fenced by a newer instance (_FENCED)"
    sync = "2026-11-23 18:23:00,767 INFO     mirror begin; writing under the name copy.d3.x\n"
    sync += f"%0|1795458200.471|FATAL|mirror#producer-1| [thrd:main]: {fenced}\n"
    (found,) = judge(tmp_path, {"broker-5/server.log": taken, "sync-a.log": sync})
    assert (found.kind, found.subject["transactional.id"], found.confidence) == ("producer_fenced", "copy.d3.x", 0.95)


@pytest.mark.parametrize(
    "line",
    [
        "[2026-11-23 14:29:39,745] [30954] [ERROR] wire.probe: refused with INVALID_PRODUCER_EPOCH",
        "[2026-11-23T20:09:14.536+0530] ERROR [ReplicaManager broker=1] INVALID_PRODUCER_EPOCH (kafka.server.Replica)",
    ],
)
def test_stamps_in_brackets_are_not_the_garbage_collectors_alone(line: str, tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text(f"{line}\n" * 5)
    scan = scan_paths([tmp_path])
    assert [event.level for event in scan.events] == ["ERROR"] * 5
    assert "gc" not in scan.sources[0].layout


def test_a_client_id_with_an_arrow_is_not_cut(tmp_path: Path) -> None:
    task = "WorkerSourceTask{{id=w->e.MirrorSourceConnector-0}}"
    begun = (
        "2025-02-04 11:{}:02,115 INFO [Producer clientId=connector-producer-w->e.MirrorSourceConnector-0] Cluster ID: x"
    )
    late = f"2025-02-04 11:{{}}:07,752 ERROR {task} Failed to flush offsets to storage: TimeoutException"
    lines = (begun.format(14), *(late.format(at) for at in (15, 16, 17)), "")
    (found,) = judge(tmp_path, {"worker.log": "\n".join(lines)})
    assert found.subject["client.id"] == "connector-producer-w->e.MirrorSourceConnector-0"


def test_a_client_id_with_blanks_is_not_cut(tmp_path: Path) -> None:
    client = "producer-Source: fares -> Sink: rides, daily-3"
    begun = f"2025-02-04 11:14:02,115 INFO [Producer clientId={client}, transactionalId=rides-3] Cluster ID: x"
    lost = (
        "2025-02-04 11:14:03,731 WARN Unable to commit recovered transaction (KafkaTransactionState "
        "[transactionalId=rides-3, producerId=7, epoch=1]). In both cases this most likely signals data loss."
    )
    (found,) = judge(tmp_path, {"job.log": f"{begun}\n{lost}\n"})
    assert found.subject["client.id"] == client
