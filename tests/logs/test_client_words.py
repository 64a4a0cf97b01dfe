"""Messages of clients in other languages: they report Kafka's responses in many forms with the same meaning."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest
from confluent_kafka import KafkaError

from eosctl.logs.carriers.structured import read_entry
from eosctl.logs.classifier.classify import Classifier
from eosctl.logs.incidents.judge import judge_incidents
from eosctl.logs.records.record import Record
from eosctl.logs.scan import scan_paths
from eosctl.model.incident import Incident

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # of kafka-python's own imports
    import kafka.errors

OF_CODE = {
    1: "OFFSET_OUT_OF_RANGE",
    10: "RECORD_TOO_LARGE",
    14: "COORDINATOR_UNAVAILABLE",
    15: "COORDINATOR_UNAVAILABLE",
    16: "COORDINATOR_UNAVAILABLE",
    19: "NOT_ENOUGH_REPLICAS",
    20: "NOT_ENOUGH_REPLICAS",
    22: "GROUP_FENCED",
    25: "GROUP_FENCED",
    29: "AUTHZ_OTHER",
    30: "AUTHZ_GROUP",
    31: "AUTHZ_CLUSTER",
    45: "OUT_OF_ORDER_SEQUENCE",
    47: "INVALID_PRODUCER_EPOCH",
    48: "INVALID_TXN_STATE",
    49: "INVALID_PID_MAPPING",
    50: "INVALID_TXN_TIMEOUT",
    51: "CONCURRENT_TRANSACTIONS",
    52: "TXN_COORDINATOR_FENCED",
    53: "AUTHZ_TXN_ID",
    56: "STORAGE_ECHO",
    59: "UNKNOWN_PRODUCER_ID",
    82: "STATIC_MEMBER_FENCED",
    88: "HANGING_TXN_HINT",
    90: "PRODUCER_FENCED",
    120: "TXN_ABORTABLE",
}
"""Kafka's error codes that bear on transactions."""

ON_COORDINATOR = "(kafka.coordinator.transaction.TransactionCoordinator)"
INITIALISED = "".join(
    f"[2026-11-21 09:31:{second},000] INFO [TransactionCoordinator id=1] Initialized transactionalId pay.v2-1 with "
    f"producerId 9000001 and producer epoch {epoch} on partition __transaction_state-7 {ON_COORDINATOR}\n"
    for second, epoch in (("02", 4), ("20", 5))
)
FENCED = "There is a newer producer with the same transactionalId which fences the current one"
BEGUN, REFUSED = "2026-11-21T09:31:01.900Z", "2026-11-21T09:31:22.500Z"


def category(text: str) -> str:
    found = Classifier().classify(Record(0, 0, "", "INFO", "", "app", "", text, ""))
    return found.category if found else ""


@pytest.mark.parametrize("code", OF_CODE)
def test_an_error_means_the_same_in_librdkafka_and_python(code: int) -> None:
    words = KafkaError(code).str()
    if words != f"Err-{code}?":  # an older librdkafka has no message for it
        assert category(f"failed: {words}") == OF_CODE[code]
    # The class of the error, as in a traceback or a message of the client.
    assert category(f"failed: [Error {code}] {kafka.errors.for_code(code).__name__}") == OF_CODE[code]


@pytest.mark.parametrize(
    "text",
    [
        KafkaError(KafkaError._MAX_POLL_EXCEEDED).str(),
        (
            "Application maximum poll interval (300000ms) exceeded by 255ms (adjust max.poll.interval.ms for "
            "long-running message processing): leaving group"
        ),
    ],
)
def test_a_consumer_of_librdkafka_that_did_not_poll(text: str) -> None:
    assert category(text) == "POLL_TIMEOUT"


def judge(folder: Path, files: dict[str, str]) -> list[Incident]:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    scan = scan_paths([folder])
    return list(judge_incidents(scan.events, scan.sources))


@pytest.mark.parametrize(
    "lines",
    [
        [
            {
                "level": "INFO",
                "timestamp": BEGUN,
                "logger": "kafkajs",
                "message": "begin",
                "transactionalId": "pay.v2-1",
            },
            {
                "level": "ERROR",
                "timestamp": REFUSED,
                "logger": "kafkajs",
                "message": "[Connection] Response EndTxn(key: 26, version: 1)",
                "error": FENCED,
                "transactionalId": "pay.v2-1",
            },
        ],
        [
            {"level": "info", "ts": BEGUN, "msg": "begin", "transactional_id": "pay.v2-1"},
            {
                "level": "error",
                "ts": REFUSED,
                "msg": "end",
                "transactional_id": "pay.v2-1",
                "err": f"PRODUCER_FENCED: {FENCED}.",
            },
        ],
        [
            {"timestamp": BEGUN, "level": "INFO", "fields": {"message": "begin", "transactional.id": "pay.v2-1"}},
            {
                "timestamp": REFUSED,
                "level": "ERROR",
                "fields": {"message": "commit failed", "error": f"Broker: {FENCED}", "transactional.id": "pay.v2-1"},
                "target": "pay",
            },
        ],
    ],
    ids=["kafkajs", "franz-go", "rust"],
)
def test_a_zombie_is_recognized_by_fields_next_to_the_message(lines: list[dict[str, object]], tmp_path: Path) -> None:
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    (found,) = judge(tmp_path, {"broker-1/server.log": INITIALISED, "pay.log": text})
    assert (found.kind, found.root_cause) == ("producer_fenced", "duplicate-transactional-id")
    assert found.subject["transactional.id"] == "pay.v2-1"


def test_fields_next_to_the_message_are_read_once_as_text() -> None:
    entry = read_entry(
        {"msg": "send failed: x", "err": "x", "error": "y", "TransactionalId": "a-1", "ctx": {"groupId": "g"}}
    )
    assert entry.message == "send failed: x: y"
    assert entry.rest.splitlines() == ["transactional.id=a-1 group.id=g"]


def test_the_group_of_a_stalled_librdkafka_consumer_is_named(tmp_path: Path) -> None:
    client = (
        "%4|1795253482.658|MAXPOLL|ship#consumer-1| [thrd:main]: Application maximum poll interval (300000ms) exceeded "
        "by 255ms (adjust max.poll.interval.ms for long-running message processing): leaving group\n"
    )
    broker = (
        "[2026-11-21 09:31:22,700] INFO [GroupCoordinator 1]: Preparing to rebalance group ship-eu in state "
        "PreparingRebalance with old generation 3 (__consumer_offsets-1) (reason: Removing member "
        "ship-a80fd03e-1111-4222-8333-123456789012 on LeaveGroup; client reason: not provided) "
        "(kafka.coordinator.group.GroupCoordinator)\n"
    )
    (found,) = judge(tmp_path, {"app.log": client})
    assert (found.kind, found.subject) == (
        "poll_interval_exceeded",
        {"application": "app", "client": "ship#consumer-1"},
    )
    (found,) = judge(tmp_path, {"broker-1/server.log": broker})
    assert (found.kind, found.subject) == ("poll_interval_exceeded", {"group": "ship-eu", "client.id": "ship"})


def test_newer_coordinators_name_group_and_member_in_front(tmp_path: Path) -> None:
    broker = (
        "[2026-11-21 09:31:22,700] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=6] [Group clicks v2] "
        "Member clicks-eu-2e7be7ea-b0ce-40d3-b1a6-96ec9321eae9 has left group through explicit `LeaveGroup` request; "
        "client reason: consumer poll timeout has expired. (org.apache.kafka.coordinator.group.GroupMetadataManager)\n"
    )
    (found,) = judge(tmp_path, {"broker-1/server.log": broker})
    assert (found.kind, found.subject) == ("poll_interval_exceeded", {"group": "clicks v2", "broker": "1"})


def test_a_streams_application_with_a_slow_stop_was_stopped(tmp_path: Path) -> None:
    client = "stream-client [clicks-2e7be7ea-b0ce-40d3-b1a6-96ec9321eae9]"
    started = (
        "2026-11-21 09:31:{}.100 INFO  [main] o.a.k.clients.producer.KafkaProducer - [Producer clientId=c, "
        "transactionalId=clicks-2e7be7ea-b0ce-40d3-b1a6-96ec9321eae9-1] Instantiated a transactional producer.\n"
    )
    stopping = "2026-11-21 09:31:20.100 INFO  [main] o.apache.kafka.streams.KafkaStreams - "
    stopping += f"{client} State transition from REBALANCING to PENDING_SHUTDOWN\n"
    assert judge(tmp_path / "asked", {"clicks.log": started.format("01") + stopping + started.format("40")}) == []
    (found,) = judge(tmp_path / "killed", {"clicks.log": started.format("01") + started.format("40")})
    assert (found.kind, found.subject) == ("unclean_stop", {"application.id": "clicks"})


QUIET = {
    "kafkajs.log": "".join(
        f"{json.dumps({'level': level, 'timestamp': BEGUN, 'logger': 'kafkajs', 'message': message, **beside})}\n"
        for level, message, beside in (
            ("INFO", "[ConsumerGroup] Consumer has joined the group", {"groupId": "ship", "isLeader": True}),
            ("WARN", "[Runner] re-joining", {"error": "The group is rebalancing, so a rejoin is needed"}),
            ("INFO", "transaction committed", {"transactionalId": "pay-1", "error": None, "reason": "asked for"}),
        )
    ),
    "rdkafka.log": (
        "%6|1795253481.100|GETPID|pay#producer-1| [thrd:main]: Acquired transactional PID{Id:1000,Epoch:0}\n"
        "%3|1795253483.200|FAIL|pay#producer-1| [thrd:k:9092/2]: k:9092/2: Disconnected (after 600000ms in state UP)\n"
    ),
    "aio.log": (
        "2026-11-21 09:31:01,100 INFO aiokafka.consumer.group_coordinator: (Re-)joining group ship\n"
        "2026-11-21 09:31:04,000 WARNING aiokafka.cluster: Topic pay is not available: LeaderNotAvailableError\n"
    ),
    "go.log": (
        'time=2026-11-21T09:31:02Z level=WARN msg="metadata update failed" err="LEADER_NOT_AVAILABLE: There is no '
        'leader for this topic-partition as we are in the middle of a leadership election."\n'
        'time=2026-11-21T09:31:03Z level=INFO msg="CONCURRENT_TRANSACTIONS, retrying" transactional_id=pay-2\n'
    ),
    "broker-1/server.log": INITIALISED,
}


def test_a_quiet_hour_of_all_clients_is_not_an_incident(tmp_path: Path) -> None:
    assert judge(tmp_path, QUIET) == []


WORDS = (
    ("PRODUCER_FENCED", "Unknown error, how did this happen? Error code = 90", {}),
    ("INVALID_PID_MAPPING", "kafka server: error code: 49", {}),
    ("CLIENT_FATAL", "FATAL [thrd:b:9092/1]: Fatal error: Local: Inconsistent state: Unable to reconstruct", {}),
    ("CLIENT_FATAL", "KafkaError (Message production error: Fatal (Local: Fatal error))", {}),
    ("CLIENT_FATAL", "Confluent.Kafka.ProduceException: Local_Fatal", {}),
    ("CLIENT_FATAL", "broker error: ERR__FATAL", {}),
    ("CLIENT_FATAL", "delivery failed: Unable to reconstruct MessageSet (currently with 8 message(s))", {}),
    ("CLIENT_FATAL", "LibrdKafkaError: Local: Inconsistent state { code: -149, errno: -149 }", {}),
    ("CLIENT_FATAL", "produce() in kafka failed: error code -149", {}),
    ("CLIENT_FATAL", "KafkaError (Message production error: GaplessGuarantee (Local: Gap-less ordering would not", {}),
    ("CLIENT_FATAL", "Confluent.Kafka.ProduceException: Local_Inconsistent", {}),
    ("CLIENT_FATAL", "RD_KAFKA_RESP_ERR__INCONSISTENT", {}),
    (
        "COORDINATOR_REFUSED",
        "server.cc:1132 - failed to allocate pid, ec: tx_errc::coordinator_not_available",
        {},
    ),
    (
        "INVALID_TXN_STATE",
        "[tx_id=ledger-7] end_txn failed for pid {producer_identity: id=4, epoch=65}: tx::errc::invalid_txn_state",
        {"transactional_id": "ledger-7", "producer_id": "4", "producer_epoch": "65"},
    ),
    (
        "INVALID_PRODUCER_EPOCH",
        "Epoch of producer 5100 at offset 88120 in ledger-3 is 22, which is < the last seen epoch 23 (TV1)",
        {"producer_id": "5100", "producer_epoch": "22", "current_epoch": "23", "partition": "ledger-3"},
    ),
    ("INVALID_PRODUCER_EPOCH", "Epoch of producer 1 at offset 2 in a-3 is 4, which is <= the last seen epoch 4", {}),
    (
        "STREAM_THREAD_DEATH",
        "Encountered the following exception during processing and the thread is going to shut down: ",
        {},
    ),
    ("TIMEOUT_INIT_PID", "InitTransactions timed out - did not complete coordinator discovery", {}),
    ("TIMEOUT_COMMIT_TXN", "CommitTransaction timed out - did not complete EndTxn", {}),
    ("TIMEOUT_ADD_OFFSETS", "SendOffsetsToTransaction timed out - did not reach the coordinator", {}),
    ("STATE_DIR_LOCKED", "Unable to obtain lock as state directory is already locked by another process", {}),
    ("PRODUCER_ID_BLOCK_FAILED", "Timed out when requesting AllocateProducerIds from the controller.", {}),
    (
        "TXN_LOG_APPEND_FAILED",
        "Rollback of ongoing transaction for transactionalId till-9 failed due to error UNKNOWN_SERVER_ERROR",
        {"transactional_id": "till-9"},
    ),
)


@pytest.mark.parametrize(("category", "words", "fields"), WORDS)
def test_words_of_other_releases_and_clients(category: str, words: str, fields: dict[str, str]) -> None:
    classified = Classifier().classify(Record(0, 0, "", "ERROR", "", "", "", words, ""))
    assert classified is not None
    assert classified.category == category
    assert fields.items() <= classified.fields.items()


def test_a_code_decides_although_its_digits_are_all_that_differs() -> None:
    """Records that differ in digits only are classified once, unless a digit is an error code."""
    classifier = Classifier()
    records = [Record(0, 0, "", "ERROR", "", "", "", f"failed: Error code = {code}", "", key=b"k") for code in (90, 47)]
    found = [classifier.classify(record) for record in records * 3]
    assert [one.category if one else "" for one in found] == ["PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH"] * 3


@pytest.mark.parametrize(
    "text",
    [
        (
            '{"level":"ERROR","timestamp":"2026-03-04T10:02:14.189Z","logger":"kafkajs","message":"[Connection] '
            'Response EndTxn(key: 26, version: 1)","clientId":"pay","error":"The producer attempted a transactional '
            'operation in an invalid state","correlationId":9}\n'
        ),
        (
            "%3|1772618534.189|TXNERR|pay#producer-1| [thrd:main]: Fatal transaction error: Failed to end transaction: "
            "Broker: Producer attempted a transactional operation in an invalid state (INVALID_TXN_STATE)\n"
        ),
    ],
    ids=["kafkajs", "librdkafka"],
)
def test_a_refused_end_of_an_empty_transaction_is_not_a_pause(text: str, tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"pay.log": text})
    assert (one.kind, one.root_cause) == ("transaction_request_refused", "transaction-not-open")
