"""Why servers do not start, by the exception of their fatal record, and starts that are ended before a recovery."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.logs.incidents.naming.start_faults import start_faults
from eosctl.model.severity import Severity
from tests.logs.judging import judge

START = "[2025-08-19 05:40:{}] INFO {} (kafka.server.KafkaServer)\n"
FATAL = (
    "[2025-08-19 05:40:09,310] ERROR [KafkaServer id=6] Fatal error during KafkaServer startup. Prepare to shutdown "
    "(kafka.server.KafkaServer)\n{}\n\tat kafka.server.KafkaServer.startup(KafkaServer.scala:301)\n"
)
STOPPED = START.format("09,315", "[KafkaServer id=6] shutting down")
ZK = "kafka.zookeeper.ZooKeeperClientTimeoutException: Timed out waiting for connection while in state: CONNECTING"
NO_AUTH = "org.apache.zookeeper.KeeperException$NoAuthException: KeeperErrorCode = NoAuth for /brokers/ids/6"
FOREIGN = (
    "org.apache.kafka.common.KafkaException: Found directory /srv/k/backup, 'backup' is not in the form of "
    "topic-partition or topic-partition.uniqueId-delete (if marked for deletion)."
)
NO_ID = (
    "java.lang.RuntimeException: The log dir Log(dir=/srv/k/tolls-2, topic=tolls, partition=2, highWatermark=0, "
    "lastStableOffset=0) does not have a topic ID, which is not allowed when running in KRaft mode."
)
SETTING = (
    "org.apache.kafka.common.config.ConfigException: Invalid value x for configuration log.retention.ms: Not a number"
)
VOTERS = (
    "java.lang.IllegalStateException: Configured voter set: [11, 12] is different from the voter set read from the "
    "state file: [11, 12, 13]. Check if the quorum configuration is up to date, or wipe out the local state file if "
    "necessary"
)
NULL = 'java.lang.NullPointerException: Cannot invoke "a.apiVersions()" because the return value of "b()" is null'
UNKNOWN = "java.lang.IllegalStateException: something else"


@pytest.mark.parametrize(
    ("thrown", "cause", "name", "value"),
    [
        (ZK, "zookeeper-not-reached", "zookeeper", "zk-a:2181,zk-b:2181/kf"),
        (NO_AUTH, "zookeeper-not-authorized", "broker", "6"),
        (NO_ID, "partition-without-topic-id", "directory", "/srv/k/tolls-2"),
        (VOTERS, "voters-differ-from-the-state-file", "broker", "6"),
        (FOREIGN, "foreign-directory-in-log-dir", "directory", "/srv/k/backup"),
        (SETTING, "setting-refused", "setting", "log.retention.ms"),
        (
            "java.lang.RuntimeException: No readable meta.properties files found.",
            "storage-not-formatted",
            "broker",
            "6",
        ),
        (UNKNOWN, "unexplained", "broker", "6"),
    ],
)
def test_the_exception_of_a_start_names_its_cause(
    thrown: str, cause: str, name: str, value: str, tmp_path: Path
) -> None:
    log = START.format("03,100", "Connecting to zookeeper on zk-a:2181,zk-b:2181/kf") + FATAL.format(thrown) + STOPPED
    (found,) = judge(tmp_path, {"server.log": log})
    assert (found.kind, found.root_cause, found.severity) == ("server_ended_by_a_fault", cause, Severity.CRITICAL)
    assert found.subject[name] == value and "topics" not in found.subject


def test_the_exception_before_the_fatal_one_is_the_cause(tmp_path: Path) -> None:
    fatal = "[2025-08-19 05:40:{}] ERROR {} (kafka.server.{})\n{}\n\tat kafka.server.{}.start(A.scala:3)\n"
    log = fatal.format(
        "08,900", "[SharedServer id=12] Got exception while starting SharedServer", "SharedServer", VOTERS, "Shared"
    ) + fatal.format(
        "09,110",
        "[ControllerServer id=12] Fatal error during controller startup. Prepare to shutdown",
        "ControllerServer",
        NULL,
        "Controller",
    )
    (found,) = judge(tmp_path, {"kafka.log": log})
    assert (found.kind, found.root_cause) == ("server_ended_by_a_fault", "voters-differ-from-the-state-file")
    assert found.subject["controller"] == "12" and "[11, 12, 13]" in found.explanation
    assert "NullPointerException" not in found.explanation


def test_a_fault_at_work_is_not_a_start(tmp_path: Path) -> None:
    log = (
        "[2025-08-19 05:40:09,310] ERROR Halting broker because dir /srv/k is offline (kafka.server.ReplicaManager)\n"
        "java.lang.IllegalArgumentException: a\n"
    )
    found = judge(tmp_path, {"server.log": log})
    assert "setting-refused" not in {one.root_cause for one in found}


def test_each_cause_has_a_reason_and_a_step() -> None:
    for fault in start_faults():
        assert fault.words and fault.what and not fault.what.endswith(".") and fault.next.endswith(".")


def test_a_server_that_ends_itself_was_not_asked_to(tmp_path: Path) -> None:
    again = (
        "[2025-08-19 05:40:31,000] INFO Registered kafka:type=kafka.Log4jController MBean "
        "(kafka.utils.Log4jControllerRegistration$)\n"
    )
    log = FATAL.format(ZK) + STOPPED + again + START.format("35,000", "[KafkaServer id=6] started")
    found = judge(tmp_path, {"server.log": log})
    assert [one.kind for one in found] == ["server_ended_by_a_fault"]
    assert "served again at 2025-08-19T05:40:35.000Z" in found[0].explanation


RECOVERY = (
    "2025-01-14 22:{} INFO Recovering 61 logs from /var/lib/kafka/data-0/kafka-log4 since no clean shutdown file was "
    "found (kafka.log.LogManager) [main]\n"
)
SIGNAL = (
    "2025-01-14 22:{} INFO Terminating process due to signal SIGTERM "
    "(org.apache.kafka.common.utils.LoggingSignalHandler) [SIGTERM handler]\n"
)
SERVES = "2025-01-14 22:{} INFO [KafkaServer id=4] started (kafka.server.KafkaServer) [main]\n"


@pytest.mark.parametrize(("serves", "count"), [("", 1), (SERVES, 0)])
def test_starts_that_never_serve_are_a_loop(serves: str, count: int, tmp_path: Path) -> None:
    one, two, three = (RECOVERY.format(f"{minute}:03,110") for minute in ("04", "11", "18"))
    stops = [SIGNAL.format(f"{minute}:40,000") for minute in ("09", "16")]
    log = one + stops[0] + two + serves.format("14:00,000") + stops[1] + three
    found = [one for one in judge(tmp_path, {"kafka-4.log": log}) if one.kind == "log_recovery_interrupted"]
    assert len(found) == count
    if found:
        assert found[0].subject["broker"] == "4" and "3 starts in 14 min" in found[0].explanation


ROLLED = (
    "2025-01-14 22:{} INFO KafkaRoller:508 - Reconciliation #91(timer) Kafka(bus/mid): Pod {} needs to be restarted. "
    "Reason: []\n"
)


@pytest.mark.parametrize(
    ("pod", "end", "count"),
    [("mid-kafka-4", "", 1), ("4", "", 1), ("mid-kafka-3", "", 0), ("4", SERVES.format("19:00,000"), 0)],
)
def test_one_recovery_ended_by_an_operator_is_reported(pod: str, end: str, count: int, tmp_path: Path) -> None:
    log = RECOVERY.format("04:03,110") + SIGNAL.format("09:40,000") + RECOVERY.format("11:03,110") + end
    operator = ROLLED.format("09:39,100", pod)
    found = judge(tmp_path, {"kafka-4.log": log, "operator.log": operator})
    assert [one.kind for one in found if one.severity is Severity.ERROR] == ["log_recovery_interrupted"] * count
    if found and count:
        assert "operator ordered" in found[0].explanation and found[0].subject["broker"] == "4"


def test_one_recovery_is_not_an_incident(tmp_path: Path) -> None:
    assert judge(tmp_path, {"kafka-4.log": RECOVERY.format("04:03,110") + SERVES.format("05:00,000")}) == []


PROBE = "2m10s  Normal  Killing  pod/mid-kafka-{}  Container kafka failed liveness probe, will be restarted\n"


@pytest.mark.parametrize(("node", "count"), [("4", 1), ("3", 0)])
def test_a_probe_that_ends_a_recovery_is_one_fault(node: str, count: int, tmp_path: Path) -> None:
    log = RECOVERY.format("04:03,110") + RECOVERY.format("07:09,400")
    found = judge(tmp_path, {"kafka-4.log": log, "events.txt": PROBE.format(node) * 2})
    assert [one.kind for one in found].count("log_recovery_interrupted") == count
    if count:
        (one,) = found
        assert one.subject["pod"] == "mid-kafka-4" and "its probe failed" in one.explanation


FAILED = (
    "[2026-02-25 14:{}] WARN [NodeToControllerChannelManager id=7 name=heartbeat] Connection to node {} (c/10.1.0.2:9) "
    "could not be established. Node may not be available. (org.apache.kafka.clients.NetworkClient)\n"
)
UNREGISTERED = (
    "[2026-02-25 14:11:30,652] ERROR [BrokerLifecycleManager id=7] Shutting down because we were unable to register "
    "with the controller quorum. (kafka.server.BrokerLifecycleManager)\n"
)


def test_a_broker_that_cannot_register_names_its_controllers(tmp_path: Path) -> None:
    log = FAILED.format("10:30,700", 2) + FAILED.format("10:31,710", 2) + FAILED.format("11:29,300", 3) + UNREGISTERED
    (one,) = judge(tmp_path, {"kafka-7.log": log})
    assert (one.kind, one.root_cause) == ("server_ended_by_a_fault", "controllers-not-reached")
    assert (one.subject["broker"], one.subject["unreachable"]) == ("7", ("2", "3"))


@pytest.mark.parametrize("frames", ["", "\n\tat a.B.c(B.java:1)\n\tat kafka.tools.StorageTool.main(StorageTool.scala)"])
def test_the_script_of_an_image_reports_a_refused_setting(frames: str, tmp_path: Path) -> None:
    thrown = "requirement failed: advertised.listeners listener names must be a subset of those in listeners"
    log = (
        "kafka 08:30:57.87 INFO  ==> Formatting storage directories to add metadata...\n"
        f'Exception in thread "main" java.lang.IllegalArgumentException: {thrown}{frames}\n'
    )
    (one,) = judge(tmp_path, {"kafka.log": log})
    assert (one.root_cause, one.subject["setting"]) == ("setting-refused", "advertised.listeners")


@pytest.mark.parametrize(
    ("thrown", "cause"),
    [
        (
            (
                'Exception in thread "main" org.apache.kafka.common.config.ConfigException: Invalid value x for '
                "configuration message.max.bytes: Not a number\n\tat kafka.tools.StorageTool$.main(StorageTool.scala)"
            ),
            "setting-refused",
        ),
        (
            (
                "Error: Could not find or load main class kafka.tools.StorageTool\n"
                "Caused by: java.lang.ClassNotFoundException: kafka.tools.StorageTool"
            ),
            "class-not-found",
        ),
    ],
)
def test_what_ends_before_kafka_logs_has_a_cause(thrown: str, cause: str, tmp_path: Path) -> None:
    setup = "kafka 08:30:57.87 INFO  ==> Formatting storage directories to add metadata...\n"
    (one,) = judge(tmp_path, {"kafka.log": f"{setup}{thrown}\n"})
    assert (one.kind, one.root_cause) == ("server_ended_by_a_fault", cause)


def test_a_client_that_ends_with_an_exception_is_not_a_server(tmp_path: Path) -> None:
    thrown = (
        'Exception in thread "main" org.apache.kafka.common.config.ConfigException: Invalid value for configuration a\n'
        "\tat org.apache.kafka.clients.producer.KafkaProducer.<init>(K.java:1)\n\tat shop.Main.main(Main.java:3)"
    )
    (one,) = judge(tmp_path, {"shop.log": f"2026-03-02 07:10:01,100 INFO start\n{thrown}\n"})
    assert one.kind == "client_setting_refused"


ENDED_ZOOKEEPER = (
    "[2026-05-19 06:41:22,131] ERROR {} (org.apache.zookeeper.server.quorum.QuorumPeerMain)\n"
    "java.io.IOException: {}\n\tat org.apache.zookeeper.server.persistence.FileTxnSnapLog.restore(F.java:1)\n"
)
WITHOUT_ZOOKEEPER = (
    "[2026-05-19 06:{}:05,391] ERROR Timed out waiting for connection to Zookeeper server [zk:2181]. "
    "(io.confluent.admin.utils.ClusterStatus)\n"
)


@pytest.mark.parametrize(
    ("text", "thrown"),
    [
        ("Unexpected exception, exiting abnormally", "No snapshot found, but there are log entries."),
        ("Unable to load database on disk", "The current epoch, 9, is older than the last zxid, 42949672960"),
        ("Unable to access datadir, exiting abnormally", "Missing data directory /zk/version-2"),
    ],
)
def test_zookeeper_that_does_not_start_is_the_cause(text: str, thrown: str, tmp_path: Path) -> None:
    logs = {"zk.log": ENDED_ZOOKEEPER.format(text, thrown), "kafka.log": WITHOUT_ZOOKEEPER.format("42")}
    (one,) = judge(tmp_path, logs)
    assert (one.kind, one.root_cause) == ("server_ended_by_a_fault", "zookeeper-does-not-start")
    assert thrown.rstrip(".") in one.explanation
    assert "kafka could not connect to ZooKeeper" in one.explanation


def test_a_server_that_missed_zookeeper_before_is_another_fault(tmp_path: Path) -> None:
    zookeeper = ENDED_ZOOKEEPER.format("Unexpected exception, exiting abnormally", "x")
    found = judge(tmp_path, {"zk.log": zookeeper, "kafka.log": WITHOUT_ZOOKEEPER.format("20")})
    assert [one.root_cause for one in found] == ["zookeeper-not-reached", "zookeeper-does-not-start"]
