"""Logs that were not recognized, or only in part: no grade, no passed check, and no silence."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from tests.commands.conftest import eosctl
from tests.commands.doctor.test_logs import ZOMBIE

HANGING = "Topic\tPartition\tProducerId\tProducerEpoch\npayments\t3\t4001\t12\n"
PROPERTIES = "log.dirs=/data/a\nnum.io.threads=8\n"
LINE = "[2026-11-26 10:20:00,000] INFO started (kafka.server.KafkaServer)\n"
UNCLEAN = "[2026-11-26 10:20:00,000] INFO UNCLEAN partition change for orders-0: leader: 1 -> 2 (x.Y)\n"


@pytest.mark.parametrize(
    ("name", "text", "headline"),
    [
        ("hanging.txt", HANGING, "No log record was recognized in {}."),
        ("server.log", PROPERTIES, "No log record was recognized in {}."),
        ("notes.txt", "transactional.id=pay-1\nacks=0\n", "No log record was recognized in {}."),
        ("rows.jsonl", '{"a": 1}\n{"a": 2}\n' * 9, "No log record was recognized in {}."),
        ("server.log", "", "No log records: {} is empty."),
        ("server.log", "\n\n\n", "No log records: {} is empty."),
        ("server.log", "\0" * 500, "No log was read ({}: a binary file, not a log)."),
    ],
)
@pytest.mark.parametrize("output", ["table", "markdown", "json", "github"])
def test_a_file_without_a_log_record_has_no_grade(
    name: str, text: str, headline: str, output: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text)
    wanted = headline.format(path)
    done = eosctl("doctor", "--logs", path, "-o", output)
    assert done.code == 2
    assert wanted in done.out.replace("\\", "")
    assert not re.search(r"\b100\b", done.out.replace(str(path), ""))
    assert eosctl("doctor", "--logs", path, "--require-complete").code == 4
    assert eosctl("doctor", "--logs", path, "--min-score", 1).code == 3
    report = eosctl("logs", "report", path)
    assert (report.code, wanted in report.out) == (4, True)
    if output == "json":
        assert done.json["summary"][0] == wanted
        assert (done.json["grade"]["letter"], done.json["counts"]["passed"]) == ("-", 0)
        assert {check["status"] for check in done.json["checks"]} == {"skipped"}


def test_a_cut_file_is_not_an_empty_one(tmp_path: Path) -> None:
    path = tmp_path / "server.log.gz"
    path.write_bytes(gzip.compress((LINE * 500).encode())[:12])
    wanted = f"No log record was read ({path} could not be read to its end: gzip: Compressed file ended"
    report = eosctl("logs", "report", path)
    assert (report.code, wanted in report.out, "is empty" in report.out) == (4, True, False)
    assert wanted in eosctl("doctor", "--logs", path, "-o", "json").json["summary"][0]


def test_the_page_has_no_grade_either(tmp_path: Path) -> None:
    (tmp_path / "hanging.txt").write_text(HANGING)
    report = tmp_path / "report.html"
    eosctl("doctor", "--logs", tmp_path / "hanging.txt", "--report", report)
    page = report.read_text("utf-8")
    assert "no grade" in page
    assert "No log record was recognized" in page
    assert "/100" not in page


def test_a_small_share_of_records_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mixed.log"
    path.write_text(LINE + "".join(f"row {number} of something else\n" for number in range(50)))
    done = eosctl("doctor", "--logs", path, "-o", "json", "--require-complete")
    share = f"Log records were recognized in only 1 of 51 lines of {path}."
    assert (done.code, done.json["grade"]["letter"]) == (4, "-")
    assert share in done.json["summary"]
    uncovered = "of 2 records is in the log catalog, so these logs do not show whether transactions work."
    assert f"{uncovered} {share}" in eosctl("logs", "report", path).out
    (source,) = eosctl("logs", "report", path, "-o", "json").json["sources"]
    assert source["recognition"] == "little"


def test_one_unknown_file_among_logs_takes_the_grade(tmp_path: Path) -> None:
    (tmp_path / "server.log").write_text(LINE)
    (tmp_path / "hanging.txt").write_text(HANGING)
    (tmp_path / "empty.log").write_text("")
    done = eosctl("doctor", "--logs", tmp_path, "-o", "json")
    assert (done.code, done.json["grade"]["letter"]) == (2, "-")
    assert done.json["counts"]["passed"] == 0
    assert eosctl("doctor", "--logs", tmp_path, "--require-complete").code == 4
    unread = f"No log record was recognized in {tmp_path}/hanging.txt (2 lines)."
    report = eosctl("logs", "report", tmp_path)
    assert report.out.startswith("None of 3 records is in the log catalog")
    assert unread in report.out.splitlines()[0]
    assert (report.code, eosctl("logs", "report", tmp_path, "--require-complete").code) == (0, 4)
    assert f"No log record was recognized in {tmp_path}/hanging.txt (2 lines)." in done.json["summary"]
    (tmp_path / "hanging.txt").unlink()
    again = eosctl("doctor", "--logs", tmp_path, "-o", "json", "--require-complete")
    assert (again.code, again.json["grade"]["letter"]) == (4, "-")
    assert eosctl("logs", "report", tmp_path, "--require-complete").code == 4


def test_a_record_that_calls_for_action_fails_everywhere(tmp_path: Path) -> None:
    (tmp_path / "controller.log").write_text(UNCLEAN)
    done = eosctl("doctor", "--logs", tmp_path, "-o", "json")
    (item,) = done.json["items"]
    assert (done.code, item["check_id"], item["severity"]) == (3, "EOS-LOG-009", "critical")
    assert item["resource"] == {"kind": "partition", "name": "orders-0"}
    assert item["evidence"][0]["source"] == f"{tmp_path}/controller.log:1"
    verdict = "A replica that was not in sync became leader of orders-0"
    for output in ("table", "markdown", "html"):
        report = eosctl("logs", "report", tmp_path, "-o", output, "--fail-on", "critical")
        assert report.code == 3
        assert verdict in report.out.replace("\\", "")
    machine = eosctl("logs", "report", tmp_path, "-o", "json").json
    assert machine["headline"].startswith(verdict)
    (incident,) = machine["incidents"]
    assert (incident["kind"], incident["severity"]) == ("unclean_election", "critical")
    assert incident["subject"]["topic-partition"] == "orders-0"
    assert "unclean_election" in eosctl("logs", "report", tmp_path, "-o", "tsv").out


def test_a_snapshot_keeps_the_records(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "controller.log").write_text(UNCLEAN)
    kept = tmp_path / "snapshot.json"
    first = eosctl("doctor", "--logs", tmp_path / "logs", "--save-snapshot", kept, "-o", "json")
    again = eosctl("doctor", "--snapshot", kept, "-o", "json")
    assert [one["fingerprint"] for one in first.json["items"]] == [one["fingerprint"] for one in again.json["items"]]
    assert "UNCLEAN" in json.dumps(json.loads(kept.read_text("utf-8")))


def test_the_worst_incident_leads_and_the_rest_is_counted(tmp_path: Path) -> None:
    (tmp_path / "controller.log").write_text(UNCLEAN)
    out = eosctl("logs", "report", ZOMBIE, tmp_path).out
    first = out.splitlines()[0]
    assert first.startswith("A replica that was not in sync became leader of orders-0: ")
    assert "more incidents" in first


@pytest.mark.parametrize("output", ["tsv", "github", "prometheus"])
def test_compact_formats_name_unrecognized_files(tmp_path: Path, output: str) -> None:
    prose = tmp_path / "prose.txt"
    prose.write_text("no log\n" * 100)
    done = eosctl("doctor", "--logs", prose, "-o", output)
    assert "incomplete: no check could be evaluated" in done.err
    assert "No log record was recognized" in done.err
    for command in ("report", "scan"):
        assert "incomplete: no log record was recognized" in eosctl("logs", command, prose, "-o", "tsv").err
