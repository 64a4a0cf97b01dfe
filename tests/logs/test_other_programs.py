"""Logs of programs that have nothing to do with Kafka are named so, which is not an all-clear."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.logs.scan import scan_paths
from eosctl.model.log_findings import LogFindings
from eosctl.model.severity import Severity
from eosctl.render.logs.verdict import headline
from eosctl.services.log_findings import judge_scan

DATABASE = (
    "2026-03-04 07:00:01.120 UTC [811] LOG:  checkpoint complete\n"
    "2026-03-04 07:00:04.870 UTC [812] FATAL:  remaining connection slots are reserved\n"
)
STALL = (
    "2026-03-04 07:00:14.333  WARN 1 --- [http-8080-exec-2] com.zaxxer.hikari.pool.HikariPool : pool - Thread "
    "starvation or clock leap detected (housekeeper delta=58s211ms).\n"
)
CLIENT = "2026-03-04 07:00:00.100  INFO 1 --- [main] o.a.k.clients.Metadata : a line of no category\n"
NO_KAFKA = "No log of Kafka was recognized in "


def findings(folder: Path, text: str) -> LogFindings:
    path = folder / "db.log"
    path.write_text(text)
    return judge_scan(scan_paths([path]))


@pytest.mark.parametrize("more", ["", STALL], ids=["alone", "with a pause"])
def test_errors_of_other_programs_keep_their_weight(more: str, tmp_path: Path) -> None:
    found = findings(tmp_path, DATABASE + more)
    assert found.incidents == ()
    assert [one.severity for one in found.unexplained] == [Severity.WARNING]
    said = headline(found)
    assert said.startswith(NO_KAFKA)
    assert "1 error of other programs, first: " in said


def test_an_error_next_to_a_kafka_client_keeps_its_weight(tmp_path: Path) -> None:
    found = findings(tmp_path, CLIENT + DATABASE)
    assert [one.severity for one in found.unexplained] == [Severity.WARNING]
    assert NO_KAFKA not in headline(found)


def test_a_known_record_of_kafka_is_enough(tmp_path: Path) -> None:
    refused = (
        "2026-03-04 07:00:05.000 ERROR 1 --- [main] a.Relay : failed: org.apache.kafka.common.errors."
        "ProducerFencedException: There is a newer producer with the same transactionalId.\n"
    )
    assert NO_KAFKA not in headline(findings(tmp_path, DATABASE + refused))


FULL = (
    '2026-03-04 07:00:06.000 UTC [78] PANIC:  could not write to file "pg_wal/xlogtemp.78": No space left on device\n'
)
KILLED = "Mar 04 07:00:07 db1 kernel: Out of memory: Killed process 911 ({}) total-vm:100kB, anon-rss:90kB\n"


@pytest.mark.parametrize("fault", [FULL, KILLED.format("mysqld")], ids=["disk full", "out of memory"])
def test_a_fault_of_a_database_is_not_one_of_kafka(fault: str, tmp_path: Path) -> None:
    found = findings(tmp_path, fault)
    assert found.incidents == ()
    assert [one.severity for one in found.unexplained] == [Severity.WARNING]
    assert headline(found).startswith(NO_KAFKA)


@pytest.mark.parametrize(
    ("text", "kind"),
    [(KILLED.format("java"), "out_of_memory"), (CLIENT + FULL, "disk_full")],
    ids=["a server", "next to a client"],
)
def test_the_same_fault_where_kafka_is_shown(text: str, kind: str, tmp_path: Path) -> None:
    assert [one.kind for one in findings(tmp_path, text).incidents] == [kind]
