"""A write that a pipeline repeats until its log ends is an open fault, also where it names the reason only once."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.severity import Severity
from tests.logs.judging import judge

NO_TOPIC = (
    "2026-02-03 09:00:04 +0000 [error]: #0 Failed to fetch metadata for topic tiles.cut: "
    "Kafka::UnknownTopicOrPartition\n"
)
FLUENTD = (
    "2026-02-03 09:00:{} +0000 [warn]: #0 failed to flush the buffer. retry_times={} next_retry_time=2026-02-03 "
    '09:00:59 +0000 chunk="622ed2d1a9b0f5b6c37c9f1c3b0d2a41" error_class=Kafka::DeliveryFailed error="Failed to '
    'assign partitions to 38 messages"\n'
)
FLUENTD_DONE = '2026-02-03 09:00:31 +0000 [warn]: #0 retry succeeded. chunk_id="622ed2d1a9b0f5b6c37c9f1c3b0d2a41"\n'
FLUENT_BIT = (
    "[2026/02/03 09:00:{}] [ warn] [engine] failed to flush chunk '1-1770109200.1.flb', retry in {} seconds: "
    "task_id=0, input=tail.0 > output={}.0 (out_id=0)\n"
)
COLLECTOR = (
    "2026-02-03T09:00:{}.000Z\tinfo\tinternal/retry_sender.go:126\tExporting failed. Will retry the request after "
    'interval.\t{{"kind": "exporter", "data_type": "traces", "name": "kafka", "error": "kafka: client has run out of '
    'available brokers", "interval": "{}s"}}\n'
)
PYTHON = "2026-02-03 09:00:{},114 WARNING tiles.sink: failed to send batch to topic tiles.cut, attempt {} of 20\n"
MAIL = "2026-02-03 09:00:{},114 WARNING tiles.mail: failed to send message to cutter@example.org, attempt {} of 20\n"
TIMES = (("04", 0), ("06", 2), ("10", 4), ("18", 8))


def repeated(line: str, *more: str) -> str:
    return "".join(line.format(second, number, *more) for second, number in TIMES)


def test_a_reason_that_is_named_once_lasts(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"td-agent.log": NO_TOPIC + repeated(FLUENTD)})
    assert (one.kind, one.severity) == ("topic_not_found", Severity.ERROR)
    assert "repeated the write 4 times" in one.explanation
    assert len(one.evidence) == 5


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(repeated(FLUENTD), id="fluentd"),
        pytest.param(repeated(FLUENT_BIT, "kafka"), id="fluent-bit"),
        pytest.param(repeated(PYTHON), id="application"),
    ],
)
def test_attempts_without_success_are_open(tmp_path: Path, text: str) -> None:
    (one,) = judge(tmp_path, {"pipeline.log": text})
    assert one.kind == "send_repeated"
    assert "before an attempt succeeds" in one.explanation


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(repeated(FLUENTD) + FLUENTD_DONE, id="an attempt succeeded"),
        pytest.param(repeated(FLUENT_BIT, "es"), id="another output"),
        pytest.param(repeated(MAIL), id="mail"),
        pytest.param(FLUENTD.format("04", 0), id="one attempt"),
    ],
)
def test_other_attempts_cause_no_incident(tmp_path: Path, text: str) -> None:
    assert judge(tmp_path, {"pipeline.log": text}) == []


def test_the_collector_repeats_an_export(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"otel.log": repeated(COLLECTOR)})
    assert one.severity is not Severity.INFO


def test_a_write_that_succeeds_later_is_a_recovery(tmp_path: Path) -> None:
    late = "".join(FLUENTD.format(second, 9).replace("09:00:", "09:01:", 1) for second in ("10", "20"))
    done = FLUENTD_DONE.replace("09:00:31", "09:02:31")
    (one,) = judge(tmp_path, {"td-agent.log": NO_TOPIC + repeated(FLUENTD) + late + done})
    assert (one.kind, one.severity) == ("topic_not_found", Severity.WARNING)
    assert "A repeated write succeeded at 2026-02-03T09:02:31.000Z (" in one.explanation


def test_connections_that_failed_before_are_the_reason(tmp_path: Path) -> None:
    failed = "[2026/02/03 08:59:{}] [error] [output:kafka:kafka.0] tiles#producer-1: [thrd:kb-1:9092/bootstrap]: {}\n"
    refused = (
        "kb-1:9092/bootstrap: Connect to ipv4#192.0.2.4:9092 failed: Connection refused (after 0ms in state CONNECT)"
    )
    text = failed.format("04", refused) + failed.format("05", "1/1 brokers are down")
    (one,) = judge(tmp_path, {"pipeline.log": text + repeated(FLUENT_BIT, "kafka")})
    assert (one.kind, one.root_cause) == ("send_repeated", "brokers-not-reached")
    assert one.subject["servers"] == ("kb-1:9092",)
