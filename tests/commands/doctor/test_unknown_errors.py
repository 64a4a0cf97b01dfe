"""Errors that the catalog does not know: findings in every format, and never the best grade."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.logs.incidents.remaining.record_groups import TEMPLATES_OF_A_LOGGER
from eosctl.model.severity import Severity
from eosctl.services.log_findings import collect_log_findings
from tests.commands.conftest import eosctl

GOOD = "".join(
    f"[2026-11-20 10:00:{second:02},000] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"
    for second in range(50)
)
UNKNOWN = "[2026-11-20 10:01:00,000] {} Handover of shard {} is broken (com.acme.Main)\n"
CORRUPT = (
    "[2026-11-20 10:01:00,000] ERROR [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Found invalid messages "
    "during fetch for partition __transaction_state-3 offset 17 (kafka.server.ReplicaFetcherThread)\n"
    "org.apache.kafka.common.errors.CorruptRecordException: Record is corrupt (stored crc = 12)\n"
)
STORAGE = (
    "[2026-11-20 10:01:00,000] ERROR [ReplicaManager broker=1] Error processing append operation on partition orders-3 "
    "(kafka.server.ReplicaManager)\n"
    "org.apache.kafka.common.errors.KafkaStorageException: The log dir /data/a is already offline due to a previous IO "
    "exception.\n"
)
EXIT = "[2026-11-20 10:01:00,000] ERROR Exiting Kafka due to fatal exception (kafka.Kafka$)\n"
FAULT = (
    "[2026-11-20 10:01:00,000] ERROR Encountered fatal fault: Error starting LogManager "
    "(org.apache.kafka.server.fault.ProcessTerminatingFaultHandler)\n"
)


@pytest.mark.parametrize(("level", "severity"), [("ERROR", "info"), ("FATAL", "warning"), ("CRITICAL", "warning")])
def test_an_unknown_error_is_a_finding_and_costs_the_best_grade(level: str, severity: str, tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_text(GOOD + UNKNOWN.format(level, 7) + UNKNOWN.format(level, 8))
    done = eosctl("doctor", "--logs", path, "-o", "json")
    (item,) = done.json["items"]
    assert (done.code, item["check_id"], item["severity"]) == (0, "EOS-LOG-010", severity)
    assert done.json["grade"]["letter"] == "B"
    assert item["resource"] == {"kind": "logger", "name": "com.acme.Main"}
    assert item["facts"]["record_count"] == 2
    assert "Handover of shard 7 is broken" in item["message"]
    assert [fact["source"] for fact in item["evidence"]] == [f"{path}:51", f"{path}:52"]


def test_the_report_of_logs_names_unknown_errors_in_every_format(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_text(GOOD + UNKNOWN.format("ERROR", 7) * 3)
    first = f"{path}:51: Handover of shard 7 is broken"
    verdict = f"No known incident. 3 error records are not in the catalog, first: {first}."
    machine = eosctl("logs", "report", path, "-o", "json").json
    assert machine["headline"] == verdict
    (records,) = machine["unexplained"]
    assert (records["category"], records["severity"], records["record_count"]) == ("UNCLASSIFIED", "info", 3)
    for output in ("table", "markdown", "html", "tsv"):
        out = eosctl("logs", "report", path, "-o", output).out.replace("\\", "")
        assert "UNCLASSIFIED" in out
        assert "3 error records" in out or "3 records" in out
    assert eosctl("logs", "report", path, "--fail-on", "info").code == 3


def test_templates_are_groups_until_there_are_too_many(tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    words = ["".join(chr(97 + int(digit)) for digit in str(number)) for number in range(TEMPLATES_OF_A_LOGGER + 1)]
    path.write_text("".join(UNKNOWN.format("ERROR", word) for word in words[:-1]))
    assert len(collect_log_findings([path]).unexplained) == TEMPLATES_OF_A_LOGGER
    path.write_text("".join(UNKNOWN.format("ERROR", word) for word in words))
    (only,) = collect_log_findings([path]).unexplained
    assert (only.record_count, only.severity) == (TEMPLATES_OF_A_LOGGER + 1, Severity.INFO)


@pytest.mark.parametrize(
    ("record", "category"),
    [(CORRUPT, "CORRUPT_RECORD"), (STORAGE, "STORAGE_ERROR"), (EXIT, "SERVER_FATAL"), (FAULT, "SERVER_FATAL")],
)
def test_broken_records_and_dying_servers_are_critical(record: str, category: str, tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_text(GOOD + record)
    findings = collect_log_findings([path])
    assert findings.unexplained == ()
    (only,) = findings.incidents
    assert only.severity == "critical"
    assert category in {event.category for event in findings.events}


def test_a_torn_tail_after_an_unclean_stop_is_not_corruption(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    torn = "WARN Found invalid messages in log segment /data/a/orders-0/00000000000000000000.log at byte offset 812."
    path.write_text(
        f"{GOOD}[2026-11-20 10:01:00,000] {torn} (org.apache.kafka.storage.internals.log.LogSegment)\n"
        "org.apache.kafka.common.errors.CorruptRecordException: Record is corrupt (stored crc = 12)\n"
    )
    assert collect_log_findings([path]).unexplained == ()
