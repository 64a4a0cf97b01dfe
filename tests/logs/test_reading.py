"""Read times and throwables, and check the catalog."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from eosctl.logs.classifier.classify import Classifier
from eosctl.logs.classifier.throwable import parse_throwable
from eosctl.logs.records.record import Record
from eosctl.logs.timestamps import TimeReference, parse_timestamp

NOON_MS = int(datetime(2026, 11, 21, 12, 0, tzinfo=UTC).timestamp() * 1000)


@pytest.mark.parametrize(
    ("text", "expected", "assumed"),
    [
        ("2026-11-21T12:00:00.250Z", NOON_MS + 250, False),
        ("2026-11-21T13:00:00.25+01:00", NOON_MS + 250, False),
        ("2026-11-21T13:00:00.250+0100", NOON_MS + 250, False),
        ("2026-11-21 12:00:00,250", NOON_MS + 250, True),
        ("26/11/21 12:00:00", NOON_MS, True),
        ("2026/11/21 12:00:00", NOON_MS, True),
        ("Nov 21 12:00:00", NOON_MS, True),
        ("12:00:00.250", NOON_MS + 250, True),
        ("1795262400.250", NOON_MS + 250, False),
        ("1795262400250", NOON_MS + 250, False),
    ],
)
def test_stamps_become_instants(text: str, expected: int, assumed: bool) -> None:
    assert parse_timestamp(text, TimeReference(None, NOON_MS + 60_000)) == (expected, assumed)


def test_a_zone_that_was_named_is_not_assumed() -> None:
    berlin = TimeReference(ZoneInfo("Europe/Berlin"), NOON_MS)
    assert parse_timestamp("2026-11-21 13:00:00,000", berlin) == (NOON_MS, False)


def test_the_hour_that_comes_twice_is_flagged() -> None:
    berlin = TimeReference(ZoneInfo("Europe/Berlin"), NOON_MS)
    fold = parse_timestamp("2026-10-25 02:30:00,000", berlin)
    assert fold is not None
    assert fold.assumed


def test_a_clock_time_after_the_last_change_was_yesterday() -> None:
    found = parse_timestamp("23:59:59", TimeReference(None, NOON_MS))
    assert found is not None
    assert found.ms == NOON_MS - 12 * 3_600_000 - 1000


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-41 12:00:00", "99:99:99"])
def test_text_that_is_not_a_time_is_rejected(text: str) -> None:
    assert parse_timestamp(text, TimeReference()) is None


TRACE = (
    "org.apache.kafka.common.KafkaException: outer\n\tat a.B.c(B.java:10)\n"
    "\tSuppressed: java.lang.IllegalStateException: aside\n\t\tat x.Y.z(Y.java:1)\n\tCaused by: "
    "java.lang.Error: aside too\n"
    "Caused by: java.io.IOException: root\n\t... 3 more\n"
)


def test_the_root_is_the_last_cause_and_nothing_suppressed() -> None:
    found = parse_throwable(TRACE)
    assert found is not None
    assert found.chain == ("org.apache.kafka.common.KafkaException", "java.io.IOException")


def test_a_fingerprint_ignores_line_numbers_but_not_frames() -> None:
    first, moved, other = (
        parse_throwable(text) for text in (TRACE, TRACE.replace(":10", ":99"), TRACE.replace("B.c", "B.d"))
    )
    assert first and moved and other
    assert first.fingerprint == moved.fingerprint != other.fingerprint


def test_a_marked_stack_trace_is_a_stack_trace() -> None:
    marked = "".join(f"! {line}\n" for line in TRACE.splitlines())
    assert parse_throwable(marked) == parse_throwable(TRACE)


def test_a_python_traceback_has_a_class() -> None:
    found = parse_throwable(
        'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    g()\ncimpl.KafkaException: x\n'
    )
    assert found is not None
    assert found.class_name == "cimpl.KafkaException"


@pytest.mark.parametrize(
    ("message", "category"),
    [
        (
            (
                "Got error produce response, retrying. Error: NOT_ENOUGH_REPLICAS. Error Message: Unable "
                "to verify the partition has been "
                "added to the transaction. Underlying error: COORDINATOR_NOT_AVAILABLE"
            ),
            "VERIFICATION_UNAVAILABLE",
        ),
        (
            "TransactionalId: a's state is COMPLETE_ABORT, but received transaction marker result to send: COMMIT",
            "TXN_LATE_COMMIT",
        ),
        # Sentences that contain an error's name but have another meaning.
        (
            (
                "Not available to append X: possible causes include UNKNOWN_TOPIC_OR_PARTITION, NOT_ENOUGH_REPLICAS, "
                "NOT_ENOUGH_REPLICAS_AFTER_APPEND, REQUEST_TIMED_OUT; retry appending"
            ),
            "TXN_MARKER_RETRY",
        ),
        (
            (
                "Failed to remove expired transactionalId: a from cache. Tombstone append error code: NOT_COORDINATOR, "
                "pendingState: None"
            ),
            "TXN_EXPIRED",
        ),
        (
            "Failed to update ISR to PendingShrinkIsr() due to unexpected NOT_CONTROLLER. Retrying.",
            "ISR_UPDATE_REJECTED",
        ),
        (
            (
                "Encountered org.apache.kafka.common.errors.NotLeaderOrFollowerException fetching records from restore "
                "consumer for partitions [a-changelog-1], it is likely that"
            ),
            "TASK_CORRUPTED",
        ),
        ("Cannot allocate any more producer epochs for producerId 4001", "PRODUCER_EPOCHS_EXHAUSTED"),
        (
            "Attempted to load transaction metadata from __transaction_state-3, but found no log",
            "TXN_METADATA_ERROR",
        ),
        ("I am loading the transaction partition that contains a-1 while my current", "TXN_COORDINATOR_FENCED"),
        ("Found no record of producerId=4001 on the broker at offset 12in partition a-1.", "UNKNOWN_PRODUCER_ID"),
        (
            "Failed to register startup state stores for task 0_1: Tasks [0_1] are corrupted and hence need to be",
            "TASK_CORRUPTED",
        ),
        (
            "Consumer committing offsets failed, indicating the corresponding thread is no longer part of the group",
            "TASK_MIGRATED",
        ),
        ("Uncaught error in kafka producer I/O thread: ", "TXN_STATE_ERROR"),
        (
            "Producer's epoch is no longer valid. There is probably another producer with a newer epoch.",
            "PRODUCER_FENCED",
        ),
        ("Failed to elect leader for partition a-1 under strategy PreferredReplica", "LEADER_ELECTION"),
        ("Expiring 3 record(s) for a-1:120000 ms has passed since batch creation", "TIMEOUT_SEND"),
        ("Flush returned with error code -185: 'Local: Timed out'", "TIMEOUT_FLUSH"),
        ("Was unable to flush, messages might be lost: RD_KAFKA_RESP_ERR__TIMED_OUT", "TIMEOUT_FLUSH"),
        ('producer.flush: KafkaError{code=_TIMED_OUT,val=-185,str="Local: Timed out"}', "TIMEOUT_FLUSH"),
        ("Flush returned with error code -184: 'Local: Queue full'", "PRODUCER_BUFFER_FULL"),
        ("[QuorumController id=1] Fencing broker 2 at epoch 9 because its session has timed out.", "BROKER_FENCED"),
        (
            "[BrokerLifecycleManager id=4] Unable to register the broker because the controller returned error X",
            "REGISTRATION_REFUSED",
        ),
        ("StorageKafka (meters): Can't get assignment. Will keep trying.", "ASSIGNMENT_AWAITED"),
        ("Job visits (1f0f6f3d) switched from state FAILING to FAILED.", "PROGRAM_ENDED"),
        ("Final app status: FAILED, exitCode: 15", "PROGRAM_ENDED"),
        ("liveness check of the channel is DOWN", "PROGRAM_ENDED"),
        ("loading the cache took 64250 ms", "SLOW_STEP"),
        ("row 4: lock granted after 84250 ms", "SLOW_STEP"),
        ("the upload blocked this thread for 31 s", "SLOW_STEP"),
        ("waited for 41250 ms on the pool", "SLOW_STEP"),
        (
            "Thread Thread[vert.x-eventloop-thread-3,5,main] has been blocked for 5117 ms, time limit is 2000 ms",
            "THREAD_BLOCKED",
        ),
        ("committed batch 771 (40 records)", "TXN_COMMITTED"),
        ("delivered 12 loads to silo.out", "WORK_DONE"),
        ("stream-thread [a-StreamThread-1] Processed 40 total records, ran 0 punctuators", "WORK_DONE"),
        (
            (
                "[GroupCoordinator id=1] Failed to load metadata from __consumer_offsets-0 with epoch 0 due to "
                "Deserializing record DefaultRecord(offset=3, timestamp=1795372926607, key=12 bytes, value=3 bytes) "
                "from __consumer_offsets-0 failed.."
            ),
            "COORDINATOR_LOAD_FAILED",
        ),
        (
            "[GroupMetadataManager brokerId=1] Error loading offsets from __consumer_offsets-0",
            "COORDINATOR_LOAD_FAILED",
        ),
        (
            (
                "[GroupCoordinator id=1] Failed to load metadata from __consumer_offsets-3 with epoch 4 due to "
                "org.apache.kafka.common.errors.NotLeaderOrFollowerException: Could not load records from "
                "__consumer_offsets-3 because the log does not exist."
            ),
            "NOT_LEADER",
        ),
        (
            (
                "[GroupCoordinator id=1] Failed to load metadata from __consumer_offsets-3 with epoch 4 due to "
                "java.lang.RuntimeException: Coordinator loader is closed.."
            ),
            "COORDINATOR_UNLOAD",
        ),
        (
            (
                "Unexpected exception thrown when cleaning log Log(dir=/data/c-0, topicId=_k_YgCH8Tqq1jpc-NTkBBg, "
                "topic=c, partition=0, highWatermark=3000, lastStableOffset=3000, logStartOffset=0, "
                "logEndOffset=3000). Marking its partition (c-0) as uncleanable"
            ),
            "LOG_UNCLEANABLE",
        ),
        ("Loading transaction metadata from __transaction_state-3 at epoch 4", "COORDINATOR_LOAD"),
        (
            "The cluster does not support the STREAMS group protocol or does not support the versions of the STREAMS",
            "UNSUPPORTED_VERSION",
        ),
        (
            "The cluster does not support the new CONSUMER group protocol. Set group.protocol=classic on the consumer",
            "UNSUPPORTED_VERSION",
        ),
        (
            "TransactionalId: t-1's state is ONGOING, but received transaction marker result to send: COMMIT",
            "INVALID_TXN_STATE",
        ),
        (
            "Encountered the following error during processing, this usually indicate Streams internal errors:",
            "STREAM_THREAD_DEATH",
        ),
        ("Disconnecting from node 2 due to request timeout.", "NETWORK_DISCONNECT"),
        (
            "[thrd:b2:9093/2]: b2:9093/2: 43 request(s) timed out: disconnect (after 82 ms in state UP)",
            "NETWORK_DISCONNECT",
        ),
        ("[thrd:main]: Acquired transactional PID{Id:6002,Epoch:4}", "INIT_PRODUCER_ID"),
        ("[ZooKeeperClient Kafka server] Connected.", "ZK_SESSION_RENEWED"),
        (
            "kafka server: The coordinator is still loading offsets and cannot currently process requests",
            "COORDINATOR_UNAVAILABLE",
        ),
        (
            "UNCLEAN partition change for orders-0 with topic ID 5dBuVqkCTy2xJq0zYh3: leader: 1 -> 2",
            "UNCLEAN_ELECTION",
        ),
        (
            "[Transaction State Manager 3]: Error loading transactions from transaction log __transaction_state-1",
            "TXN_LOG_LOAD_FAILED",
        ),
        ("got error tx_errc::timeout on rolling previous tx.id=ferry-2 with status=prepared", "TXN_COMMIT_REJECTED"),
        ("group.cc:9 - a producer id is already involved in a tx with tx_seq 2", "GROUP_TXN_OPEN"),
        ("client/metadata got error from broker -1 while fetching metadata: unexpected EOF", "BOOTSTRAP_DISCONNECTED"),
        ("ping: broker closed the connection immediately after a request was issued", "BOOTSTRAP_DISCONNECTED"),
        ("assigned legs.raw[0], legs.raw[1]", "ASSIGNMENT_CHANGE"),
        ('booking.changed published {"booking":88120,"ms":143}', "WORK_DONE"),
        ("exported 12 product groups in 331 ms", "WORK_DONE"),
        ("[output:kafka:kafka.1] message delivered (431 bytes, partition 4)", "WORK_DONE"),
        ("Failed to get records for spark-executor-g t 1 8 after polling for 512", "QUERY_NOT_SERVED"),
        ("Cannot fetch record for offset 9 in 512 milliseconds", "QUERY_NOT_SERVED"),
        ("Got wrong record for g t 1 even after seeking to offset 9", "QUERY_NOT_SERVED"),
        (
            "b-1:9092/1: Connection setup timed out in state CONNECT (after 30021ms in state CONNECT)",
            "BROKERS_UNREACHED",
        ),
        ("[Connection] Connection error: socket hang up", "NETWORK_DISCONNECT"),
        ("b-1:9092/1: Receive failed: Disconnected", "NETWORK_DISCONNECT"),
        ("b-1:9092/bootstrap: Connection closed", "NETWORK_DISCONNECT"),
        ("consume returned: read tcp 10.1.0.9:43810->10.1.0.2:9092: i/o timeout", "TIMEOUT_OTHER"),
        ("tx=gauges-tx-3 committed 20 records", "TXN_COMMITTED"),
        ("probe: b-1:9092 accepts connections again", "WORKS_AGAIN"),
        ("error writing messages to t (partition 1, attempt 0): EOF", "NETWORK_DISCONNECT"),
        ("flush failed: kafka write errors (1/4)", "RECORDS_DROPPED"),
        ("Failed to read response while authenticating with SASL to broker b-1:9096: EOF", "AUTHENTICATION_FAILED"),
        ("client has run out of available brokers to talk to: EOF", "BOOTSTRAP_DISCONNECTED"),
        ("client has run out of available brokers to talk to: dial tcp: lookup b-1: no such host", "HOST_NOT_RESOLVED"),
        ("Sending batch to Kafka failed. Will retry after a delay.", "SEND_REPEATED"),
        ('Group "gauges" is rebalancing in state up (join-state started)', "REBALANCE_TRIGGER"),
        (
            "Failed to flush WorkerSourceTask{id=g-0}, timed out while waiting for producer to flush outstanding 3",
            "CONNECT_OFFSETS_NOT_FLUSHED",
        ),
        ("Listing failed: TimeoutException: Timed out waiting to send the call. Call: listTopics", "CLIENT_GAVE_UP"),
        ("Graceful stop of task lake-sink-3 failed.", "CONNECT_NOT_STOPPED"),
        ("Scheduler for MirrorHeartbeatTask timed out during shutdown of internal scheduler.", "CONNECT_NOT_STOPPED"),
        (
            "Scheduler for MirrorSourceConnector: w->e|MirrorSourceConnector timed out running task: syncing ACLs",
            "MIRROR_CALL_TIMEOUT",
        ),
        ("Failed to reconfigure connector's tasks (erp), retrying after backoff.", "CONNECT_TASKS_NOT_CONFIGURED"),
        ("Started MirrorCheckpointConnector with 212 consumer groups.", "SOURCE_RESUMED"),
        ("lk-1:9092 accepts connections again", "WORKS_AGAIN"),
        ("tx=alerts-tx-3 committed 20 records", "TXN_COMMITTED"),
        ("topic lab.logs offset advanced 18210 -> 19554", "WORK_DONE"),
        ("routed parcel 881014 -> parcels.eu", "WORK_DONE"),
        ("Result of znode creation at /brokers/ids/3 is: OK", "ZK_SESSION_RENEWED"),
        ("parcel P-7120 has been dispatched", "WORK_DONE"),
        ("kafka.conn Connect attempt to <BrokerConnection node_id=2> returned error 111", "BROKERS_UNREACHED"),
        ("kafka.conn <BrokerConnection node_id=2 host=kb2:9092 <connected>>: socket disconnected", "CONNECTIONS_LOST"),
        (
            "Attempting recovery for all logs in /srv/k/kafka-log4 since no clean shutdown file was found",
            "LOG_RECOVERY",
        ),
        ("[ZooKeeperClient Kafka server] Initializing a new session to zk-1:2181,zk-2:2181.", "ZK_CONNECTING"),
        ("Timed out waiting for connection to Zookeeper server [zk-1:2181/kf].", "ZK_NOT_REACHED"),
        ("Unable to read additional data from server sessionid 0x4471, likely server has closed", "ZK_CONNECTION_LOST"),
        ("Record in retry and not yet recovered", "LISTENER_RETRIED"),
        ("sasl has a limited lifetime; broker: 2, session_lifetime: 15m0s", "AUTHENTICATED"),
        ("no messages received for 20 min, lag 3100", "CONSUMER_IDLE"),
        ("Completed transition to Unattached(epoch=4) from Unattached(epoch=3)", "QUORUM_WITHOUT_LEADER"),
        (
            "Auto topic creation failed for __consumer_offsets with error 'TOPIC_AUTHORIZATION_FAILED': not allowed",
            "INTERNAL_TOPIC_REFUSED",
        ),
        (
            "Auto topic creation failed for __consumer_offsets with error 'INVALID_REPLICATION_FACTOR': 3 of 1",
            "INTERNAL_TOPIC_NOT_CREATED",
        ),
        (
            "[tx_id=ferry-2] commit_tx on data partition etag: 4 pid: {} tx_seq: 2 status: prepared was rejected",
            "TXN_COMMIT_REJECTED",
        ),
        ("[tx_id=ferry-2] remote abort etag: 4 pid: {} tx_seq: 2 in term: 4 was rejected", "TXN_COMMIT_REJECTED"),
        (
            "[tx_id=ferry-2] error rolling previous transaction with status: prepared - tx_errc::request_rejected",
            "TXN_COMMIT_REJECTED",
        ),
        ("kafka_batch_adapter.cc:171 - batch has invalid CRC: {header_crc:0}", "CORRUPT_RECORD"),
        ("Current transaction failed: Transactional operation timed out (_TIMED_OUT)", "TIMEOUT_COMMIT_TXN"),
        ("recovery_stm.cc:433 - recovery append entries error: rpc::errc::client_request_timeout", "FOLLOWER_SILENT"),
        ("heartbeat_manager.cc:207 - Closed unresponsive connection to 4", "FOLLOWER_SILENT"),
        (
            'Exception in thread "main" java.lang.IllegalArgumentException: requirement failed: listeners must differ',
            "SERVER_FATAL",
        ),
        ("Consumer group session timed out (in join-state steady) after 45200 ms without", "SESSION_TIMED_OUT"),
        ("on_assign: meters[0] meters[1]", "ASSIGNMENT_CHANGE"),
        ("SRMSG18256: Initialize record store for topic-partition 'legs-1' at position 70.", "ASSIGNMENT_CHANGE"),
    ],
)
def test_lines_of_the_catalog(message: str, category: str) -> None:
    found = Classifier().classify(Record(0, 0, "", "INFO", "", "a.B", "", message, ""))
    assert found is not None
    assert found.category == category
