"""Verdicts on real logs with injected faults, and on Kafka's lines for faults that these logs do not contain."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from eosctl.logs.incidents.judge import judge_incidents
from eosctl.logs.scan import scan_paths
from eosctl.model.incident import Incident
from eosctl.model.severity import Severity
from scripts.logs_matrix import score_scenarios

FIXTURES = Path(__file__).parents[1] / "fixtures" / "logs"
SCENARIOS = sorted(str(path.parent.relative_to(FIXTURES.parent)) for path in FIXTURES.parent.glob("logs*/*/truth.json"))

COORDINATOR = "(kafka.coordinator.transaction.TransactionCoordinator)"


def judge(folder: Path, files: dict[str, str]) -> list[Incident]:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    scan = scan_paths([folder])
    return list(judge_incidents(scan.events, scan.sources))


def kinds(incidents: list[Incident]) -> list[tuple[str, str]]:
    return [(one.kind, one.root_cause) for one in incidents]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_injected_fault_is_found_with_its_cause_only(scenario: str) -> None:
    scores = score_scenarios([FIXTURES.parent / scenario])
    assert {name: (score.wrong, score.missed) for name, score in scores.items()} == dict.fromkeys(scores, (0, 0))


def test_a_healthy_rolling_restart_is_not_an_error() -> None:
    scan = scan_paths([FIXTURES / "rolling-restart-392"])
    assert all(one.severity is Severity.INFO for one in judge_incidents(scan.events, scan.sources))


def test_both_halves_of_a_duplicate_id_suffice_without_a_broker(tmp_path: Path) -> None:
    for name in ("journal-a.json", "journal-b.json"):
        (tmp_path / name).write_bytes((FIXTURES / "second-producer-392" / name).read_bytes())
    scan = scan_paths([tmp_path])
    assert kinds(list(judge_incidents(scan.events, scan.sources))) == [
        ("producer_fenced", "duplicate-transactional-id")
    ]


def test_a_timeout_above_the_brokers_limit(tmp_path: Path) -> None:
    text = (
        "2026-11-21 09:29:35.437 INFO  [main] o.a.k.clients.producer.KafkaProducer - "
        "[Producer clientId=a, transactionalId=bill-1] Instantiated a transactional producer.\n"
        "2026-11-21 09:29:35.937 INFO  [main] o.a.k.c.p.internals.TransactionManager - "
        "[Producer clientId=a, transactionalId=bill-1] Transiting to fatal error state due to "
        "org.apache.kafka.common.KafkaException: Unexpected error in InitProducerIdResponse; The "
        "transaction timeout is larger "
        "than the maximum value allowed by the broker (as configured by transaction.max.timeout.ms).\n"
    )
    found = judge(tmp_path, {"bill.log": text})
    assert kinds(found) == [("invalid_transaction_timeout", "transaction-timeout-above-broker-max")]
    assert found[0].subject["transactional.id"] == "bill-1"


def test_a_commit_interval_above_the_transaction_timeout(tmp_path: Path) -> None:
    text = (
        "2026-11-21 09:29:35.437 ERROR [main] com.example.orders.OrderEnricher - start failed\n"
        "java.lang.IllegalArgumentException: Transaction timeout 10000 was set lower than streams "
        "commit interval 30000. "
        "This will cause ongoing transaction always timeout due to inactivity caused by long commit interval.\n"
        "\tat org.apache.kafka.streams.StreamsConfig.verifyEOSTransactionTimeoutCompatibility(StreamsConfig.java:1)\n"
    )
    assert kinds(judge(tmp_path, {"stream.log": text})) == [
        ("invalid_streams_config", "commit-interval-above-transaction-timeout")
    ]


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (
            (
                "The message is 2097240 bytes when serialized which is larger than 1048576, which is the value of the "
                "max.request.size configuration."
            ),
            "record-above-client-limit",
        ),
        (
            "The request included a message larger than the max message size the server will accept.",
            "record-above-broker-limit",
        ),
    ],
)
def test_a_record_above_a_limit(text: str, cause: str, tmp_path: Path) -> None:
    log = (
        "2026-11-21 09:29:35.437 ERROR [main] com.example.Ledger - write failed, transactional.id=ledger-3\n"
        f"org.apache.kafka.common.errors.RecordTooLargeException: {text}\n"
        "2026-11-21 09:29:35.737 ERROR [main] com.example.Ledger - cannot go on\n"
        "org.apache.kafka.common.KafkaException: Cannot execute transactional method because we are in an error state\n"
        "\tat org.apache.kafka.clients.producer.internals.TransactionManager.maybeFailWithError(T.java:1)\n"
        f"Caused by: org.apache.kafka.common.errors.RecordTooLargeException: {text}\n"
    )
    found = judge(tmp_path, {"ledger.log": log})
    assert kinds(found) == [("record_too_large", cause)]
    assert found[0].subject["transactional.id"] == "ledger-3"


def test_a_failed_log_directory_and_its_echo_on_another_broker(tmp_path: Path) -> None:
    own = (
        "[2026-11-21 09:29:35,437] ERROR Error while writing to checkpoint file "
        "/var/lib/kafka/data-1/recovery-point-offset-"
        "checkpoint (org.apache.kafka.storage.internals.log.LogDirFailureChannel)\n"
        "java.nio.file.NoSuchFileException: /var/lib/kafka/data-1/recovery-point-offset-checkpoint.tmp\n"
        "[2026-11-21 09:29:35,537] WARN [ReplicaManager broker=2] Stopping serving replicas in dir "
        "/var/lib/kafka/data-1 with "
        "uuid Some(abc) because the log directory has failed. (kafka.server.ReplicaManager)\n"
    )
    other = (
        "[2026-11-21 09:29:36,437] ERROR [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Error "
        "for partition a-1 at "
        "offset 9 (kafka.server.ReplicaFetcherThread)\n"
        "org.apache.kafka.common.errors.KafkaStorageException: Disk error when trying to access log file on the disk.\n"
    )
    found = judge(tmp_path, {"broker-2/server.log": own, "broker-1/server.log": other})
    assert kinds(found) == [("log_dir_failure", "log-dir-files-missing")]
    assert found[0].subject == {"broker": "2", "log.dir": "/var/lib/kafka/data-1"}


SEQUENCE = (
    "[2026-11-21 09:29:35,437] ERROR [ReplicaManager broker=1] Error processing append operation on partition ledger-0 "
    "(kafka.server.ReplicaManager)\n"
    "org.apache.kafka.common.errors.OutOfOrderSequenceException: Out of order sequence number for "
    "producer 7 at offset 40 in "
    "partition ledger-0: 12 (incoming seq. number), 9 (current end sequence number)\n"
)
INITIALIZED = (
    "[2026-11-21 09:29:30,437] INFO [TransactionCoordinator id=1] Initialized transactionalId gate-9 "
    "with producerId 7 and "
    f"producer epoch 3 on partition __transaction_state-3 {COORDINATOR}\n"
)


def test_a_gap_in_a_producers_sequence(tmp_path: Path) -> None:
    found = judge(tmp_path, {"broker-1/server.log": INITIALIZED + SEQUENCE})
    assert kinds(found) == [("out_of_order_sequence", "sequence-gap")]
    assert found[0].subject == {
        "transactional.id": "gate-9",
        "producerId": "7",
        "topic-partition": "ledger-0",
        "broker": "1",
    }


def test_a_retry_after_lost_state_is_not_a_gap(tmp_path: Path) -> None:
    text = SEQUENCE.replace("9 (current", "-1 (current")
    assert judge(tmp_path, {"broker-1/server.log": INITIALIZED + text}) == []


def test_a_writer_with_an_old_epoch(tmp_path: Path) -> None:
    text = (
        "[2026-11-21 09:29:35,437] INFO [ReplicaManager broker=1] Error processing append operation "
        "on partition ledger-0 "
        "(kafka.server.ReplicaManager)\n"
        "org.apache.kafka.common.errors.InvalidProducerEpochException: Epoch of producer 7 at offset "
        "40 in ledger-0 is 2, "
        "which is smaller than the last seen epoch 3\n"
    )
    found = judge(tmp_path, {"broker-1/server.log": INITIALIZED + text})
    assert kinds(found) == [("invalid_producer_epoch", "zombie-writer")]
    assert found[0].subject["transactional.id"] == "gate-9"


def test_a_client_that_logs_a_refused_late_write(tmp_path: Path) -> None:
    text = (
        "2026-11-21 09:29:30,437 INFO [MainThread] edge: begin, transactional.id=gate-9\n"
        "2026-11-21 09:29:35,437 WARNING [MainThread] edge: produce to ledger-0 refused: INVALID_TXN_STATE\n"
    )
    found = judge(tmp_path, {"edge.log": text})
    assert kinds(found) == [("late_append_refused", "late-append-after-end-of-transaction")]
    assert found[0].subject["transactional.id"] == "gate-9"


def test_a_refusal_in_a_traceback_counts_as_the_clients_log(tmp_path: Path) -> None:
    text = (
        "[2026-11-21 09:29:30,437] [INFO] edge - begin, transactional_id: gate-9\n"
        "[2026-11-21 09:29:35,437] [ERROR] edge - write failed\nTraceback (most recent call last):\n"
        '  File "/opt/app/edge.py", line 31, in write\n    raise Refused(code)\nedge.Refused: INVALID_PRODUCER_EPOCH\n'
    )
    found = judge(tmp_path, {"edge.log": text})
    assert kinds(found) == [("invalid_producer_epoch", "zombie-writer")]
    assert found[0].subject["transactional.id"] == "gate-9"


THREAD = "stream-thread [orders-ebf1c7b4-8c39-4d7c-9af5-03a6cc4ba5d3-StreamThread-1]"


def test_a_store_that_is_wiped_after_a_kill(tmp_path: Path) -> None:
    text = (
        f"2026-11-21 09:29:35.437 WARN  [t-1] o.a.k.s.p.i.ProcessorStateManager - {THREAD} "
        "stream-task [0_1] State store sums did "
        "not find checkpoint offsets while stores are not empty, since under EOS it has the risk of "
        "getting uncommitted data in "
        "stores we have to treat it as a task corruption error and wipe out the local state of task "
        "0_1 before re-bootstrapping\n"
        f"2026-11-21 09:29:35.537 WARN  [t-1] o.a.k.s.p.i.StreamThread - {THREAD} Detected the states "
        "of tasks [0_1] are "
        "corrupted. Will close the task as dirty and re-create and bootstrap from scratch.\n"
        "org.apache.kafka.streams.errors.TaskCorruptedException: Tasks [0_1] are corrupted and hence "
        "need to be re-initialized\n"
    )
    found = judge(tmp_path, {"stream-1.log": text})
    assert kinds(found) == [("task_corrupted", "unclean-stop-wipes-store")]
    assert found[0].subject == {"application.id": "orders", "tasks": ("0_1",)}


@pytest.mark.parametrize("answered", [True, False], ids=["by the handler", "at the start"])
def test_a_broken_store(answered: bool, tmp_path: Path) -> None:
    trace = (
        "org.apache.kafka.streams.errors.ProcessorStateException: Error opening store sums at "
        "location /var/lib/streams/1/sums\n"
        "\tat org.apache.kafka.streams.state.internals.RocksDBStore.openRocksDB(RocksDBStore.java:1)\n"
        "Caused by: org.rocksdb.RocksDBException: Corruption: CURRENT file does not end with newline\n"
    )
    handler = (
        "2026-11-21 09:29:35.537 ERROR [t-1] o.apache.kafka.streams.KafkaStreams - stream-client "
        "[orders-ebf1c7b4-8c39-4d7c-9af5-03a6cc4ba5d3] Encountered the following exception during "
        "processing and the registered "
        f"exception handler opted to SHUTDOWN_CLIENT. The streams client is going to shut down now. \n{trace}"
    )
    start = f"2026-11-21 09:29:35.437 ERROR [main] com.example.Orders - cannot start, application orders\n{trace}"
    found = judge(tmp_path, {"orders.log": handler if answered else start})
    assert kinds(found) == [("state_store_corrupt", "corrupt-state-store")]
    assert found[0].subject == {"application.id": "orders", "store": "sums"}


def test_an_application_that_was_killed_and_started_again(tmp_path: Path) -> None:
    line = (
        "2026-11-21 09:{}.437 INFO  [main] o.a.k.clients.producer.KafkaProducer - [Producer "
        "clientId=a, transactionalId=b-1] {}\n"
    )
    text = (
        line.format("29:35", "Instantiated a transactional producer.")
        + line.format("29:36", "ProducerId set to 5 with epoch 0")
        + line.format("30:05", "Instantiated a transactional producer.")
        + line.format("30:06", "ProducerId set to 5 with epoch 2")
        + line.format("30:30", "Closing the Kafka producer with timeoutMillis = 5000 ms.")
    )
    found = judge(tmp_path, {"b.log": text})
    assert [(one.kind, one.severity) for one in found] == [("unclean_stop", Severity.INFO)]


def test_a_clean_shutdown_of_an_application_is_not_an_incident(tmp_path: Path) -> None:
    line = (
        "2026-11-21 09:{}.437 INFO  [main] o.a.k.clients.producer.KafkaProducer - [Producer "
        "clientId=a, transactionalId=b-1] {}\n"
    )
    text = (
        line.format("29:35", "Instantiated a transactional producer.")
        + line.format("29:55", "Closing the Kafka producer with timeoutMillis = 5000 ms.")
        + line.format("30:05", "Instantiated a transactional producer.")
    )
    assert judge(tmp_path, {"b.log": text}) == []


def test_the_active_controller_dies_and_another_takes_over(tmp_path: Path) -> None:
    logger = "(org.apache.kafka.controller.QuorumController)"
    first = (
        "[2026-11-21 09:29:00,000] INFO [QuorumController id=4] Becoming the active controller at "
        f"epoch 5, next write offset 9. {logger}\n"
        "[2026-11-21 09:29:50,000] INFO Registered signal handlers for TERM, INT, HUP "
        "(org.apache.kafka.common.utils.LoggingSignalHandler)\n"
        "[2026-11-21 09:29:51,000] INFO [ControllerServer id=4] Starting controller (kafka.server.ControllerServer)\n"
    )
    second = (
        "[2026-11-21 09:29:33,000] INFO [QuorumController id=5] Becoming the active controller "
        f"at epoch 6, next write offset 40. {logger}\n"
    )
    found = judge(tmp_path, {"controller-4/controller.log": first, "controller-5/controller.log": second})
    assert kinds(found) == [("controller_failover", "controller-crash")]
    assert found[0].subject["controller"] == "4"


def test_an_active_controller_that_stays_away(tmp_path: Path) -> None:
    logger = "(org.apache.kafka.controller.QuorumController)"
    line = (
        "[2026-11-21 09:29:{:02d},000] INFO [QuorumController id={}] Becoming the active controller at epoch {}. {}\n"
    )
    found = judge(
        tmp_path,
        {
            "controller-4/controller.log": line.format(0, 4, 5, logger),
            "controller-5/controller.log": line.format(33, 5, 6, logger),
        },
    )
    assert kinds(found) == [("controller_failover", "controller-crash")]


def test_a_controller_that_stands_down_has_not_died(tmp_path: Path) -> None:
    logger = "(org.apache.kafka.controller.QuorumController)"
    line = "[2026-11-21 09:29:{:02d},000] INFO [QuorumController id={}] {} at epoch {}. {}\n"
    resigned = "Renouncing the leadership due to a metadata log event. We were the leader"
    found = judge(
        tmp_path,
        {
            "controller-4/controller.log": line.format(0, 4, "Becoming the active controller", 5, logger)
            + line.format(20, 4, resigned, 5, logger),
            "controller-5/controller.log": line.format(33, 5, "Becoming the active controller", 6, logger),
        },
    )
    assert found == []


def test_client_and_broker_report_one_gap(tmp_path: Path) -> None:
    client = (
        "2026-11-21 09:29:35,441 ERROR [MainThread] edge: produce to ledger-0 answered OUT_OF_ORDER_SEQUENCE_NUMBER\n"
    )
    found = judge(tmp_path, {"broker-1/server.log": INITIALIZED + SEQUENCE, "edge.log": client})
    assert kinds(found) == [("out_of_order_sequence", "sequence-gap")]
    assert {Path(place.file).name for place in found[0].evidence} == {"server.log", "edge.log"}


def docker(line: str) -> str:
    return json.dumps({"log": line + "\n", "stream": "stdout", "time": "2026-11-21T09:00:00Z"}) + "\n"


@pytest.mark.parametrize(
    "carried",
    [docker, lambda line: f"2026-11-21T09:00:00.123456789Z stdout F {line}\n", lambda line: f"{line}\r\n"],
    ids=["docker", "cri", "CRLF"],
)
def test_verdicts_do_not_depend_on_what_carries_the_logs(carried: Callable[[str], str], tmp_path: Path) -> None:
    for scenario in ("second-producer-392", "paused-process-431", "missing-acl-431"):
        for path in (FIXTURES / scenario).rglob("*"):
            target = tmp_path / path.relative_to(FIXTURES)
            if path.is_dir():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            text = path.read_text("utf-8")
            carry = path.name != "truth.json"
            target.write_text("".join(map(carried, text.splitlines())) if carry else text, newline="")
    scores = score_scenarios(sorted(tmp_path.iterdir()))
    assert {name: score.f1 for name, score in scores.items()} == dict.fromkeys(scores, 1.0)


def test_an_earlier_processs_end_in_a_cut_file_is_not_a_crash(tmp_path: Path) -> None:
    text = (
        "[2026-11-21 09:29:00,000] INFO [GroupCoordinator 1]: Resigned as the group coordinator for partition 1 "
        "(kafka.coordinator.group.GroupCoordinator)\n"
        "[2026-11-21 09:29:20,000] INFO Registered signal handlers for TERM, INT, HUP "
        "(org.apache.kafka.common.utils.LoggingSignalHandler)\n"
        "[2026-11-21 09:29:21,000] INFO [BrokerServer id=1] Transition from SHUTDOWN to STARTING "
        "(kafka.server.BrokerServer)\n"
    )
    assert judge(tmp_path, {"broker-1/server.log": text}) == []


def test_a_broker_lost_by_clients_without_a_signal_crashed(tmp_path: Path) -> None:
    broker = (
        "[2026-11-21 09:29:00,000] INFO [GroupCoordinator 1]: Resigned as the group coordinator for partition 1 "
        "(kafka.coordinator.group.GroupCoordinator)\n"
        "[2026-11-21 09:29:20,000] INFO Registered signal handlers for TERM, INT, HUP "
        "(org.apache.kafka.common.utils.LoggingSignalHandler)\n"
        "[2026-11-21 09:29:21,000] INFO [BrokerServer id=1] Transition from SHUTDOWN to STARTING "
        "(kafka.server.BrokerServer)\n"
    )
    client = (
        "2026-11-21 09:29:05.437 INFO  [io] o.apache.kafka.clients.NetworkClient - "
        "[Producer clientId=a, transactionalId=b-1] Node 1 disconnected.\n"
    )
    found = judge(tmp_path, {"broker-1/server.log": broker, "b.log": client})
    assert kinds(found) == [("coordinator_failover", "broker-crash")]
    assert found[0].subject["transactional.ids"] == ("b-1",)


def test_rejections_below_headers_and_without_stamps_count(tmp_path: Path) -> None:
    text = (
        "2026-11-21 09:29:30,629 - stock_push - INFO - up with transactional.id=stock-5\n"
        "2026-11-21 09:29:34,801 - stock_push - ERROR - push broke\nTraceback (most recent call last):\n"
        '  File "/opt/app/push.py", line 16, in <module>\n    p.produce("stock", b)\n'
        'cimpl.KafkaException: KafkaError{code=MSG_SIZE_TOO_LARGE,val=10,str="Unable to produce message: Broker: '
        'Message size too large"}\n'
    )
    bare = text.replace("2026-11-21 09:29:30,629 - stock_push - INFO - ", "INFO:stock_push:")
    bare = bare.replace("2026-11-21 09:29:34,801 - stock_push - ERROR - ", "ERROR:stock_push:")
    bare = "%5|1795253370.100|NOTE|stock#producer-1| [thrd:main]: nothing\n" + bare
    for name, one in (("push.log", text), ("bare.log", bare)):
        found = judge(tmp_path / name, {name: one})
        assert kinds(found) == [("record_too_large", "record-above-client-limit")]
        assert found[0].subject["transactional.id"] == "stock-5"
