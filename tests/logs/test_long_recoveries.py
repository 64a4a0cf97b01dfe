"""Brokers that serve no requests for minutes, because they recover their logs after an unclean stop."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.severity import Severity
from tests.logs.judging import judge

RECOVERY = "[2024-05-03 01:10:04,320] INFO {} since no clean shutdown file was found (kafka.log.LogManager)\n"
KRAFT = RECOVERY.format("Recovering 930 logs from /data/a")
ZOOKEEPER = RECOVERY.format("Attempting recovery for all logs in /data/a")
STARTED = "[2024-05-03 01:{}:44,400] INFO [KafkaServer id=7] started (kafka.server.KafkaServer)\n"
UNFENCED = (
    "[2024-05-03 01:{}:44,400] INFO [BrokerLifecycleManager id=7] The broker has been unfenced. Transitioning from "
    "RECOVERY to RUNNING. (kafka.server.BrokerLifecycleManager)\n"
)
SEGMENT = "[2024-05-03 01:19:09,001] INFO [LogLoader partition=orders-9, dir=/data/a] Recovering unflushed segment 22\n"
EXHAUSTED = (
    "[2024-05-03 01:09:40,110] ERROR Uncaught exception in thread 'kafka-request-handler-3': "
    "(org.apache.kafka.common.utils.KafkaThread)\njava.lang.OutOfMemoryError: Java heap space\n"
)
BORN = (
    "[2024-05-03 01:10:02,110] INFO Registered kafka:type=kafka.Log4jController MBean "
    "(kafka.utils.Log4jControllerRegistration$)\n"
)
REQUESTED = STARTED.format("00") + (
    "[2024-05-03 01:09:02,110] INFO Terminating process due to signal SIGTERM "
    "(org.apache.kafka.common.utils.LoggingSignalHandler)\n"
)


@pytest.mark.parametrize(("begins", "serves"), [(KRAFT, UNFENCED), (ZOOKEEPER, STARTED)], ids=["kraft", "zookeeper"])
def test_a_long_recovery_is_reported_with_its_end(begins: str, serves: str, tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"server.log": begins + serves.format("21")})
    assert (one.kind, one.severity) == ("log_recovery_long", Severity.WARNING)
    assert (one.subject["broker"], one.subject["log.dir"]) == ("7", "/data/a")
    assert "11 min 40 s" in one.explanation and "served again at 2024-05-03T01:21:44.400Z" in one.explanation
    assert ("930 logs" in one.explanation) == (begins == KRAFT)


def test_the_directories_of_one_start_are_one_recovery(tmp_path: Path) -> None:
    log = KRAFT + KRAFT.replace("04,320", "04,520").replace("/data/a", "/data/b") + UNFENCED.format("21")
    (one,) = judge(tmp_path, {"server.log": log})
    assert one.subject["log.dirs"] == ("/data/a", "/data/b") and "1,860 logs" in one.explanation


def test_a_recovery_that_a_log_ends_in_is_open(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"server.log": BORN + ZOOKEEPER + SEGMENT})
    assert one.kind == "log_recovery_long" and "9 min 4 s later" in one.explanation
    assert "served again at" not in one.explanation and one.next_step.startswith("Let the recovery end.")


def test_a_short_recovery_is_not_an_incident(tmp_path: Path) -> None:
    assert judge(tmp_path, {"server.log": KRAFT + UNFENCED.format("11")}) == []


def test_a_recovery_is_a_part_of_the_end_before_it(tmp_path: Path) -> None:
    log = EXHAUSTED + BORN + KRAFT.replace("/data/a", "/data/kafka-log7") + UNFENCED.format("21")
    (one,) = judge(tmp_path, {"server.log": log})
    assert one.kind == "out_of_memory" and "recovered 930 logs" in one.explanation
    assert one.explanation.count("served again at") == 1


def test_a_shutdown_that_was_cut_off_is_not_clean(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"server.log": REQUESTED + BORN + KRAFT + STARTED.format("21")})
    assert one.kind == "log_recovery_long"
    assert "shutdown request at 2024-05-03T01:09:02.110Z, and was ended before" in one.explanation
