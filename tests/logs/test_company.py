"""Other logs next to an incident's own never remove or weaken the verdict."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from eosctl.logs.incidents.judge import judge_incidents
from eosctl.logs.scan import LogScan, scan_paths
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent, SourceSummary
from scripts.logs_matrix import agrees
from tests.logs.judging import judge

FIXTURES = Path(__file__).parents[1] / "fixtures"
SCENARIOS = sorted(path.parent for path in FIXTURES.glob("logs*/*/truth.json"))
MAILER = (
    "2026-11-21T09:00:05.001Z  INFO 44 --- [main] com.example.mail.Mailer : 30 mails sent\n"
    "2026-11-21T10:59:05.001Z  INFO 44 --- [main] com.example.mail.Mailer : 31 mails sent\n"
)
COORDINATOR = (
    "[2026-11-20 {}] INFO [TransactionCoordinator id=2] {} (kafka.coordinator.transaction.TransactionCoordinator)\n"
)
ROLLED_BACK = COORDINATOR.format(
    "10:01:12,440", "Completed rollback of ongoing transaction for transactionalId till-9 due to timeout"
)
CLIENT = (
    "2026-11-20 {} {} [{}] o.a.k.c.p.internals.TransactionManager - [Producer clientId={}, transactionalId={}] {}\n"
)


def got(time: str, transactional_id: str, producer_id: int, epoch: int) -> str:
    text = f"Initialized transactionalId {transactional_id} with producerId {producer_id} and producer epoch {epoch}"
    return COORDINATOR.format(time, f"{text} on partition __transaction_state-31")


@cache
def scan_of(scenario: Path) -> LogScan:
    return scan_paths([scenario])


def verdicts(events: Sequence[LogEvent], sources: Sequence[SourceSummary]) -> dict[tuple[str, str, str], Incident]:
    found = judge_incidents(events, sources)
    return {(one.kind, one.root_cause, str(sorted(one.subject.items()))): one for one in found}


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda path: str(path.name))
def test_an_unrelated_log_changes_no_verdict(scenario: Path, tmp_path: Path) -> None:
    other = tmp_path / "mailer.log"
    other.write_text(MAILER)
    scan, both = scan_of(scenario), scan_paths([scenario, other])
    alone, together = verdicts(scan.events, scan.sources), verdicts(both.events, both.sources)
    assert alone.keys() == together.keys()
    for name, one in alone.items():
        assert together[name].confidence >= one.confidence


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda path: str(path.name))
def test_more_logs_of_a_fault_never_weaken_a_correct_verdict(scenario: Path) -> None:
    """A correct verdict from one file has at least the same confidence with all files."""
    truths = json.loads((scenario / "truth.json").read_text("utf-8"))["truth"]
    scan = scan_of(scenario)
    together = verdicts(scan.events, scan.sources).values()
    events_by_file: dict[str, list[LogEvent]] = {source.file: [] for source in scan.sources}
    for event in scan.events:
        events_by_file[event.file].append(event)
    by_source = [(source, verdicts(events_by_file[source.file], [source]).values()) for source in scan.sources]
    for truth in truths:
        whole = [one.confidence for one in together if agrees(one, truth, scenario)]
        for source, alone in by_source:
            for one in alone:
                if agrees(one, truth, scenario):
                    assert whole, (source.file, one)
                    assert max(whole) >= one.confidence, (source.file, one)


@pytest.mark.parametrize("company", ["", MAILER, got("11:00:00,000", "other-1", 8001, 0)])
def test_a_rollback_is_an_incident_next_to_any_log(company: str, tmp_path: Path) -> None:
    (found,) = judge(
        tmp_path, {"server.log": got("10:00:00,101", "till-9", 7001, 14) + ROLLED_BACK, "other.log": company}
    )
    assert (found.kind, found.subject["transactional.id"]) == ("transaction_timeout", "till-9")


def test_two_producers_of_a_program_are_distinguished_by_client(tmp_path: Path) -> None:
    app = "".join(
        CLIENT.format(time, "INFO ", "main", client, "depot-out", f"ProducerId set to 7100 with epoch {epoch}")
        for time, client, epoch in (("10:31:46,132", "sink-a", 0), ("10:31:49,146", "sink-b", 2))
    )
    app += CLIENT.format(
        *("10:31:49,387", "INFO ", "net", "sink-a", "depot-out"),
        "Transiting to abortable error state due to org.apache.kafka.common.errors.InvalidProducerEpochException: old",
    )
    server = got("10:31:46,126", "depot-out", 7100, 0) + got("10:31:49,141", "depot-out", 7100, 2)
    (alone,) = judge(tmp_path / "alone", {"app.log": app})
    (found,) = judge(tmp_path / "together", {"app.log": app, "server.log": server})
    assert (found.kind, found.root_cause) == ("producer_fenced", "duplicate-transactional-id")
    assert found.confidence > 0.9 > alone.confidence


def test_a_fenced_client_without_its_first_lines_has_its_id(tmp_path: Path) -> None:
    app = "2026-11-20 10:41:05,002 INFO  [main] com.example.quay - batch 881 sent\n" + CLIENT.format(
        *("10:41:08,340", "ERROR", "net", "quay", "berth-4"),
        "Transiting to fatal error state due to org.apache.kafka.common.errors.ProducerFencedException: newer",
    )
    server = got("10:00:00,101", "berth-4", 7201, 10) + got("10:41:07,333", "berth-4", 7201, 11)
    (found,) = judge(tmp_path, {"quay.log": app, "server.log": server})
    assert (found.root_cause, found.confidence > 0.7) == ("duplicate-transactional-id", True)
    assert len(found.evidence) == 2


def test_an_idempotent_producer_has_no_transactional_id(tmp_path: Path) -> None:
    app = (
        "2026-11-20 10:00:01,487 INFO  [a] o.a.k.c.p.i.TransactionManager - [Producer clientId=audit] ProducerId "
        "set to "
        "3006 with epoch 0\n2026-11-20 10:00:03,495 ERROR [a] com.example.Gate - audit failed\n"
        "org.apache.kafka.common.errors.OutOfOrderSequenceException: The broker received an out of order number.\n"
    ) + CLIENT.format("10:00:07,505", "INFO ", "b", "book", "gate-5", "ProducerId set to 3007 with epoch 0")
    server = (
        "[2026-11-20 10:00:03,491] ERROR [ReplicaManager broker=1] Error processing append operation on "
        "partition tolls-2 "
        "(kafka.server.ReplicaManager)\norg.apache.kafka.common.errors.OutOfOrderSequenceException: Out of order "
        "sequence "
        "number for producer 3006 at offset 908 in partition tolls-2: 9 (incoming seq. number), 2 (current end "
        "sequence "
        "number)\n"
    ) + got("10:00:07,504", "gate-5", 3007, 0)
    (found,) = judge(tmp_path, {"gate.log": app, "server.log": server})
    assert found.subject == {"producerId": "3006", "topic-partition": "tolls-2"}
    assert "Create a new producer" in found.next_step


REFUSED = (
    "[2026-10-19 02:10:44,160] ERROR [ReplicaManager broker=1] Error processing append operation on partition ledger-3 "
    "(kafka.server.ReplicaManager)\norg.apache.kafka.common.errors.InvalidProducerEpochException: Epoch of "
    "producer 5100 "
    "at offset 88120 in ledger-3 is 22, which is smaller than the last seen epoch 23\n"
)
GIVEN_UP = (
    "[2026-10-19 02:10:44,171] INFO [Transaction Marker Channel Manager 1]: Sending booker-4's transaction marker for "
    "partition ledger-3 has permanently failed with error org.apache.kafka.common.errors.InvalidProducerEpochException "
    "with the current coordinator epoch 9; cancel sending any more transaction markers TxnMarkerEntry{producerId=5100, "
    "producerEpoch=22, coordinatorEpoch=9, result=COMMIT, partitions=[ledger-3]} to the brokers "
    "(kafka.coordinator.transaction.TransactionMarkerRequestCompletionHandler)\n"
)


def test_a_refused_marker_is_not_a_zombie(tmp_path: Path) -> None:
    (zombie,) = judge(tmp_path / "write", {"server.log": REFUSED})
    assert zombie.root_cause == "zombie-writer"
    (found,) = judge(tmp_path / "marker", {"server.log": REFUSED + GIVEN_UP})
    assert found.kind == "transaction_marker_refused"
    assert found.subject == {
        "transactional.id": "booker-4",
        "producerId": "5100",
        "producerEpoch": "22",
        "topic-partition": "ledger-3",
        "broker": "1",
    }
    assert len(found.evidence) == 2


def test_a_refused_end_of_a_transaction_is_not_a_late_write(tmp_path: Path) -> None:
    refused = (
        "2026-11-20T10:00:12.440000Z ERROR librdkafka: librdkafka: TXNERR [thrd:main]: Fatal transaction error: Failed "
        "to end transaction: Broker: Producer attempted a transactional operation in an invalid state "
        "(INVALID_TXN_STATE)\n"
    )
    (found,) = judge(tmp_path, {"sink.log": refused})
    assert found.kind != "late_append_refused"
    assert "safe" not in found.explanation + found.next_step


def test_a_streams_thread_that_was_fenced_is_not_slow(tmp_path: Path) -> None:
    fenced = (
        "2026-11-20 10:00:30,973 WARN  [toll-fold-1-StreamThread-1] o.a.k.s.p.internals.StreamThread - stream-thread "
        "[toll-fold-1-StreamThread-1] Detected that the thread is being fenced. This implies that this thread missed a "
        "rebalance and dropped out of the consumer group. Will close out all assigned tasks.\n"
        "org.apache.kafka.streams.errors.TaskMigratedException: Producer got fenced trying to add offsets\n"
        "Caused by: org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer.\n"
    )
    (found,) = judge(tmp_path, {"fold.log": fenced})
    assert found.root_cause != "slow-processing"


def corrupted(count: int) -> str:
    return "".join(
        f"2026-11-26 10:{2 * number:02}:00,000 WARN  [a-StreamThread-2] stream-thread [a-StreamThread-2] Detected "
        f"the states "
        "of tasks {0_0=[a-s-changelog-0]} are corrupted. Will close the task as dirty and re-create and bootstrap from "
        "scratch. (org.apache.kafka.streams.processor.internals.StreamThread)\n"
        for number in range(count)
    )


def test_a_loop_of_corrupted_tasks_is_one_incident_over_its_time(tmp_path: Path) -> None:
    assert judge(tmp_path / "twice", {"app.log": corrupted(2)}) == []
    (found,) = judge(tmp_path / "loop", {"app.log": corrupted(15)})
    assert (found.kind, found.root_cause) == ("task_corrupted", "corruption-loop")
    assert found.t_end_ms - found.t_start_ms == 28 * 60_000
    assert "15 times, every 120 s" in found.explanation


DENIED = (
    "[2026-02-27 13:11:09,300] INFO Principal = User:console is Denied operation = {} from host = 10.1.2.3 on "
    "resource = "
    "Cluster:LITERAL:kafka-cluster for request = {} with resourceRefCount = 1 based on rule DefaultDeny "
    "(kafka.authorizer.logger)\n"
)


@pytest.mark.parametrize(
    ("operation", "request_name", "cause"),
    [
        ("IDEMPOTENT_WRITE", "InitProducerId", "missing-idempotent-write-acl"),
        ("CLUSTER_ACTION", "WriteTxnMarkers", "missing-cluster-action-acl"),
        ("CREATE", "CreateTopics", "missing-cluster-acl"),
    ],
)
def test_a_denied_cluster_operation_names_the_principal(
    operation: str, request_name: str, cause: str, tmp_path: Path
) -> None:
    client = (
        "2026-02-27 13:11:09,303 ERROR [net] o.a.k.c.p.i.Sender: [Producer clientId=producer-1] Aborting "
        "producer batches "
        "due to fatal error\norg.apache.kafka.common.errors.ClusterAuthorizationException: Cluster authorization "
        "failed.\n"
    )
    denied = DENIED.format(operation, request_name)
    (found,) = judge(tmp_path, {"kafka-authorizer.log": denied, "console.log": client})
    assert (found.root_cause, found.subject["principal"]) == (cause, "User:console")
    assert found.subject["operation"] == operation
    assert len(found.evidence) == 2


def test_a_limit_of_open_files_is_not_a_broken_disk(tmp_path: Path) -> None:
    failed = (
        "[2026-11-20 10:00:01,101] ERROR Error while appending records to tolls-0 in dir /data/kafka "
        "(org.apache.kafka.storage.internals.log.LogDirFailureChannel)\n"
        "java.nio.file.FileSystemException: /data/kafka/tolls-0/00000000000000004410.timeindex: {}\n"
        "[2026-11-20 10:00:01,150] WARN [ReplicaManager broker=1] Stopping serving replicas in dir /data/kafka "
        "(kafka.server.ReplicaManager)\n"
    )
    causes = []
    for number, reason in enumerate(("Too many open files", "No space left on device", "Input/output error")):
        (found,) = judge(tmp_path / str(number), {"server.log": failed.format(reason)})
        causes.append(found.root_cause)
        assert found.subject["log.dir"] == "/data/kafka"
    assert causes == ["limit-of-open-files", "log-dir-full", "log-dir-failure"]


def test_a_sequence_error_that_librdkafka_retries_is_ignored(tmp_path: Path) -> None:
    refused = (
        "%7|1795168812.440|REQERR|rdkafka#producer-1| [thrd:kafka-2:9092/2]: kafka-2:9092/2: ProduceRequest "
        "failed: Broker: "
        "Broker received an out of order sequence number: explicit actions Permanent,MsgPossiblyPersisted\n"
    )
    retried = (
        "%7|1795168812.440|ERRSEQ|rdkafka#producer-1| [thrd:kafka-2:9092/2]: kafka-2:9092/2: ProduceRequest for "
        "tolls [1] "
        "with 1 message(s) failed due to skipped sequence numbers (PID{Id:40,Epoch:0}, base seq 3 > next seq 2) "
        "caused by "
        "previous failed request (NO_ERROR, actions , base seq 0..0, base msgid 0, -1ms ago): recovering and retrying\n"
    )
    assert len(judge(tmp_path / "failed", {"app.log": refused})) == 1
    assert judge(tmp_path / "retried", {"app.log": refused + retried}) == []


@pytest.mark.parametrize(("refused", "owner"), [("10:05:00,100", "till-1"), ("12:05:00,100", "till-2")])
def test_a_write_belongs_to_the_owner_of_the_producer_then(refused: str, owner: str, tmp_path: Path) -> None:
    late = (
        f"[2026-11-20 {refused}] ERROR [ReplicaManager broker=1] Error processing append operation on partition "
        "tolls-2 (kafka.server.ReplicaManager)\norg.apache.kafka.common.errors.InvalidProducerEpochException: Epoch of "
        "producer 3007 at offset 908 in tolls-2 is 1, which is smaller than the last seen epoch 2\n"
    )
    lines = [got("10:00:00,100", "till-1", 3007, 2), got("12:00:00,100", "till-2", 3007, 0), late]
    found = judge(tmp_path, {"server.log": "".join(sorted(lines, key=lambda line: line[12:]))})
    assert [one.subject["transactional.id"] for one in found if one.kind == "invalid_producer_epoch"] == [owner]
