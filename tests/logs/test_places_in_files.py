"""Findings of logs have a file and a line, and a program is not named after a folder like any other."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.logs.diagnosis import incident_finding
from eosctl.logs.files.sources import LINKED_FOLDER, list_files
from tests.logs.judging import judge

RECORDS = """\
2026-10-08 21:14:02,330 INFO [TransactionCoordinator id=3] Initialized transactionalId kiosk-4 with producerId 8120 \
and producer epoch 6 on partition __transaction_state-17 (kafka.coordinator.transaction.TransactionCoordinator)
2026-10-08 21:15:07,912 INFO [TransactionCoordinator id=3] Completed rollback of ongoing transaction for \
transactionalId kiosk-4 due to timeout (kafka.coordinator.transaction.TransactionCoordinator)
"""
REFUSED = (
    "[2026-10-08 21:15:44,119] ERROR [harbor|task-0] ExactlyOnceWorkerSourceTask{id=harbor-0} Failed to commit "
    "producer transaction (org.apache.kafka.connect.runtime.ExactlyOnceWorkerSourceTask:303)\n"
    "org.apache.kafka.common.errors.InvalidTxnStateException: The producer attempted it in an invalid state.\n"
)


def test_a_finding_is_in_the_line_of_its_first_record(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"server.log": RECORDS})
    finding = incident_finding(found)
    assert finding.is_in_file
    assert (dict(finding.facts)["file"], dict(finding.facts)["line"]) == (str(tmp_path / "server.log"), 2)


def test_a_ticket_in_yaml_is_read(tmp_path: Path) -> None:
    block = "".join(f"    {line}\n" for line in RECORDS.splitlines())
    (tmp_path / "ticket.yaml").write_text(f"id: OPS-1\nlog: |\n{block}")
    (tmp_path / "settings.yml").write_text("log: /var/log/kafka\ncreated: 2026-10-08 21:14:02\nlevel: INFO\n")
    read = [file.name for file, reason in list_files([tmp_path]) if not reason]
    assert read == ["ticket.yaml"]


PROSE = "# OPS-7: the kiosk stands still\n\nSince the upgrade of 21:10 nothing arrives.\n\n"


@pytest.mark.parametrize(
    ("name", "quoted"),
    [
        ("ticket.md", f"```\n{RECORDS}```\nAny idea?\n"),
        ("thread.html", "<pre>\n%3|1470118220.114|FAIL|rdkafka#producer-1| a:9092/bootstrap: Receive failed\n</pre>\n"),
    ],
)
def test_notes_with_records_are_read_in_a_folder(name: str, quoted: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(PROSE * 40 + quoted)
    (tmp_path / "README.md").write_text(f"{PROSE}Run it every day at 10:15:00, see `server.log`.\n")
    assert [file.name for file, reason in list_files([tmp_path]) if not reason] == [name]


def test_a_ticket_in_a_folder_has_its_incident(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"ticket.md": f"{PROSE}```\n{RECORDS}```\n", "README.md": PROSE})
    assert found.subject["transactional.id"] == "kiosk-4"


def test_a_link_to_a_folder_elsewhere_is_named(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    (logs / "today").mkdir(parents=True)
    (logs / "today" / "a.log").write_text(RECORDS)
    (logs / "current").symlink_to(logs / "today")
    (logs / "far").symlink_to(tmp_path)
    assert list(list_files([logs])) == [(logs / "far", LINKED_FOLDER), (logs / "today" / "a.log", "")]


@pytest.mark.parametrize(
    ("folder", "is_named"), [("in", False), ("tmp/logs", False), ("harbor-worker", True), ("harbor-worker/logs", True)]
)
def test_any_folder_is_not_a_program(tmp_path: Path, folder: str, is_named: bool) -> None:
    (found,) = judge(tmp_path, {f"{folder}/connect.log": REFUSED})
    assert found.explanation.startswith("harbor-worker" if is_named else "The program of connect.log")
