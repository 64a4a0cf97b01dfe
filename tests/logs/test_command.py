"""``eosctl logs`` from the command line."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from eosctl.cli import main
from eosctl.logs.classifier.classify import Classifier
from eosctl.logs.scan import SPLIT_BYTES, scan_paths, scan_split
from eosctl.logs.tally import Split, SplitScan
from eosctl.render.schemas import schema_of

FIXTURES = Path(__file__).parents[1] / "fixtures" / "logs"
ZOMBIE = str(FIXTURES / "second-producer-392")


def test_a_report_names_the_fault_and_its_cause(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", "report", ZOMBIE]) == 0
    out = capsys.readouterr().out
    assert "producer_fenced: duplicate-transactional-id" in out
    assert "journal-a.json:" in out


@pytest.mark.parametrize("command", ["scan", "report"])
def test_the_machine_form_keeps_its_schema(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", command, ZOMBIE, "-o", "json"]) == 0
    result = json.loads(capsys.readouterr().out)
    jsonschema.validate(result, schema_of("logs"))
    assert len(result["incidents"]) == 3
    fenced = next(item for item in result["items"] if item["category"] == "PRODUCER_FENCED" and item["exception"])
    assert fenced["exception"]["class"] == "org.apache.kafka.common.errors.ProducerFencedException"
    evidence = result["incidents"][0]["evidence"][0]
    assert Path(evidence["file"]).read_bytes()[evidence["offset"] - 1 : evidence["offset"]] in (b"\n", b"")


def test_progress_names_the_file_and_the_position(tmp_path: Path) -> None:
    path, messages = tmp_path / "long.log", list[str]()
    line = b"2026-11-21 09:31:14,789 INFO [main] app: served\n"
    path.write_bytes(line * (SPLIT_BYTES // len(line) + 1))
    scan_paths([path], progress=messages.append)
    assert messages == [str(path), f"{path}, 0 of 67 MB", f"{path}, 67 of 67 MB"]


def test_a_period_reports_incidents_with_earlier_causes(capsys: pytest.CaptureFixture[str]) -> None:
    def report(*period: str) -> dict[str, Any]:
        assert main(["logs", "report", ZOMBIE, *period, "-o", "json"]) == 0
        return dict(json.loads(capsys.readouterr().out))

    whole = report()
    incident = whole["incidents"][1]
    begin, end = incident["t_end"], whole["incidents"][2]["t_end"]
    part = report("--from", begin, "--to", end)
    assert part["items"] == [one for one in whole["items"] if begin <= (one["time"] or begin) < end]
    assert 0 < len(part["items"]) < len(whole["items"])
    assert incident in part["incidents"]
    assert incident["t_start"] < begin
    assert all(one["t_end"] >= begin and one["t_start"] < end for one in part["incidents"])
    assert main(["logs", "report", ZOMBIE, "--from", end, "--to", begin]) == 2
    assert "--from does not lie before --to" in capsys.readouterr().err


def test_a_gate_closes_on_an_incident(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", "report", ZOMBIE, "--fail-on", "error"]) == 3
    assert main(["logs", "report", str(FIXTURES / "rolling-restart-392"), "--fail-on", "error"]) == 0
    capsys.readouterr()


UNREADABLE = (
    "[2026-11-22 18:42:42,118] ERROR [GroupMetadataManager brokerId=1] Error loading offsets from __consumer_offsets-0 "
    "(kafka.coordinator.group.GroupMetadataManager)\njava.nio.BufferUnderflowException\n"
    "\tat java.base/java.nio.Buffer.nextGetIndex(Buffer.java:707)\n"
    "[2026-11-22 18:42:43,000] ERROR Something that no catalog knows (kafka.server.BrokerServer)\n"
)


@pytest.mark.parametrize("output", ["table", "markdown", "html"])
def test_critical_records_are_incidents_and_errors_are_named(
    output: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "server.log").write_text(UNREADABLE)
    assert main(["logs", "report", str(tmp_path), "-o", output]) == 0
    out = capsys.readouterr().out.replace("\\", "")
    assert "A coordinator could not load __consumer_offsets-0 (90% sure)." in out
    assert "1 error record is not in the catalog" in out
    assert f"{tmp_path}/server.log:1" in out
    assert "Stop the applications of its groups" in out
    if output == "table":
        assert "2 records, 1 of them in the catalog, and 1 other error." in out


def test_an_incident_covers_its_critical_records(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", "report", str(FIXTURES / "hanging-transaction-392")]) == 0
    assert "no known cause" not in capsys.readouterr().out.lower()


class _Outside(HTMLParser):
    """Collects references to other pages."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.scripts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [f"{tag} {name}" for name, _ in attrs if name in ("src", "href")]
        self.scripts += tag == "script"


@pytest.mark.parametrize("options", [[], ["--static"]])
def test_the_page_is_one_file_and_escapes_what_logs_say(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "</script><script>alert(2)</script>.log"
    log.parent.mkdir(parents=True)
    log.write_text(
        "[2026-11-21 09:31:19,670] ERROR Denied <script>alert(1)</script> GroupAuthorizationException: Not authorized "
        "to access group: <b>x</b> (kafka.server.KafkaApis)\n"
    )
    assert main(["logs", "report", str(log), "-o", "html", *options]) == 0
    page = capsys.readouterr().out
    outside = _Outside()
    outside.feed(page)
    assert outside.found == []
    assert "<script>alert" not in page
    assert "&lt;script&gt;" in page
    assert "missing-group-acl" in page
    assert bool(outside.scripts) is not bool(options)
    assert ("script-src" in page) is not bool(options)


def test_messages_that_the_baseline_lacks_are_marked_as_new(capsys: pytest.CaptureFixture[str]) -> None:
    healthy = str(FIXTURES.parent / "logs-other-releases" / "healthy-400")
    for form in ("table", "markdown", "html", "json"):
        assert main(["logs", "report", ZOMBIE, "--baseline", healthy, "-o", form, "--static"]) == 0
        out = capsys.readouterr().out
        assert "There is a newer producer with the same transactionalId" in out
    digest = json.loads(out)["digest"]
    assert digest["has_baseline"]
    assert {one["is_new"] for one in digest["templates"]} == {True}
    assert main(["logs", "report", healthy, "--baseline", healthy, "-o", "table"]) == 0
    assert "0 messages that the baseline does not have." in capsys.readouterr().out


def test_markdown_for_a_ticket(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", "report", ZOMBIE, "-o", "markdown"]) == 0
    out = capsys.readouterr().out
    assert "was initialized again" in out.splitlines()[0]
    assert "| error | 2026-11-21T09:31:20.142Z | producer\\_fenced |" in out


def test_one_category_can_be_shown_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", "scan", ZOMBIE, "--category", "INIT_PRODUCER_ID", "-o", "tsv"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows
    assert {row.split("\t")[1] for row in rows} == {"INIT_PRODUCER_ID"}


def test_the_catalog_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", "patterns", "-o", "json"]) == 0
    names = [item["id"] for item in json.loads(capsys.readouterr().out)["items"]]
    assert "PRODUCER_FENCED" in names
    assert main(["logs", "explain", "producer_fenced"]) == 0
    assert "newer one has its transactional id" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["scan", "missing.log"],
        ["scan", ZOMBIE, "--zone", "Mars/Olympus"],
        ["scan", ZOMBIE, "--pattern", "%m%n"],
        ["scan", ZOMBIE, "--category", "NOTHING"],
        ["explain", "NOTHING"],
    ],
)
def test_invalid_options_are_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", *arguments]) == 2
    assert capsys.readouterr().err.startswith("error:")


def test_a_damaged_file_is_named_and_the_rest_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.log.gz").write_bytes(b"\x1f\x8bdamaged")
    (tmp_path / "b.log").write_text("[2026-11-21 09:31:19,670] ERROR ProducerFencedException (a.B)\n")
    assert main(["logs", "scan", str(tmp_path)]) == 4
    out = capsys.readouterr().out
    assert "a.log.gz" in out
    assert "PRODUCER_FENCED" in out


def test_without_java_the_scanner_works_and_spark_is_rejected(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert main(["logs", "scan", ZOMBIE, "--engine", "spark"]) == 1
    assert "leave --engine out" in capsys.readouterr().err
    assert main(["logs", "scan", ZOMBIE]) == 0


def test_a_data_directory_is_one_line_and_does_not_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "orders-0"
    data.mkdir()
    for offset in range(40):
        (data / f"{offset:020d}.log").write_bytes(bytes(64))
    (data / "leader-epoch-checkpoint").write_text("0\n1\n0 0\n")
    (data / "server.log").write_text("[2026-11-21 09:31:19,670] INFO Started (kafka.server.BrokerServer)\n")
    assert main(["logs", "scan", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if "Kafka's data" in line] == [
        line for line in lines if line.strip().startswith("skipped") and "41 files" in line
    ]
    assert "Read 1 file, 0.0 MB, 1 record, 0 of them in the catalog." in lines


def test_unreadable_files_are_named_and_the_rest_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.log").write_text("2026-11-21 09:31:19,670 ERROR [main] app.Main - it broke\n")
    (tmp_path / "gone.log").symlink_to(tmp_path / "nowhere.log")
    # Reading the first byte of a process's memory is an input/output error for every user.
    (tmp_path / "faulty.log").symlink_to("/proc/self/mem")
    (tmp_path / "torn.log.gz").write_bytes(
        gzip.compress(b"2026-11-21 09:31:20,670 ERROR [main] app.Main - too\n" * 99)[:-9]
    )
    assert main(["logs", "scan", str(tmp_path), "-o", "json"]) == 4
    result = json.loads(capsys.readouterr().out)
    assert {Path(one["file"]).name: one["reason"] for one in result["skipped"]} == {
        "gone.log": "No such file or directory",
        "faulty.log": "Input/output error",
    }
    assert {Path(one["file"]).name: bool(one["error"]) for one in result["sources"]} == {
        "a.log": False,
        "torn.log.gz": True,
    }
    assert {Path(one["file"]).name for one in result["items"]} >= {"a.log"}
    assert main(["logs", "exceptions", str(tmp_path)]) == 4
    assert "faulty.log: Input/output error" in capsys.readouterr().err


def test_files_of_other_names_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.toml").write_text("2026-11-21 09:31:19,670 ERROR [main] app.Main - it broke\n")
    (tmp_path / "a.log").hardlink_to(tmp_path / "a.toml")
    for name in ("b.parquet", "c.parquet"):
        (tmp_path / name).write_bytes(b"PAR1")
    assert main(["logs", "scan", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert f"skipped   3 files, e.g. {tmp_path / 'a.toml'}: its name ends like that of another kind of file" in out
    assert "Read 1 file, 0.0 MB, 1 record" in out
    assert main(["logs", "scan", str(tmp_path / "b.parquet")]) == 4


def test_a_file_with_two_names_is_read_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "app.log"
    log.write_text("2026-11-21 09:31:19,670 ERROR [main] app.Main - it broke\n")
    (tmp_path / "current.log").symlink_to(log)
    assert main(["logs", "scan", str(tmp_path), str(log), "-o", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["items"]) == 1


def test_a_full_disk_leaves_no_partial_report(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    yesterday = (
        '<!doctype html>\n<meta name="generator" content="eosctl"><title>eosctl logs report: of yesterday</title>'
    )
    target.write_text(yesterday)
    # A kernel limit on file sizes interrupts the write like a full disk, with the error in the middle.
    program = (
        "import resource, signal, sys; sys.dont_write_bytecode = True; from eosctl.cli import main; "
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)); "
        "sys.exit(main(sys.argv[1:]))"
    )
    arguments = ["logs", "report", ZOMBIE, "-o", "html", "--static", "--output-file", str(target)]
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert f"Cannot write {target}." in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert target.read_text() == yesterday


def test_a_shrinking_file_is_named_and_the_rest_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = "2026-11-21 09:31:19,670 ERROR [main] app.Main - it broke\n"
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_text(line * 50)

    def shrink_then_scan(split: Split, classifier: Classifier) -> SplitScan:
        if split.source.name.endswith("a.log"):
            os.truncate(split.source.name, 10 * len(line))
        return scan_split(split, classifier)

    monkeypatch.setattr("eosctl.logs.scan.scan_split", shrink_then_scan)
    assert main(["logs", "scan", str(tmp_path), "-o", "json"]) == 4
    result = json.loads(capsys.readouterr().out)
    assert [bool(one["error"]) for one in result["sources"]] == [True, False]
    assert sum(one["file"].endswith("a.log") for one in result["items"]) == 10
    assert sum(one["file"].endswith("b.log") for one in result["items"]) == 50


@pytest.mark.parametrize(
    ("text", "code", "shown"),
    [
        ("hello\nworld\n", 4, "No stack traces in what was recognized."),
        ("java.lang.IllegalStateException: gone\n\tat a.B.c(B.java:1)\n", 0, "IllegalStateException"),
        ("[2026-11-26 10:20:00,000] INFO started (kafka.server.KafkaServer)\n", 0, "No stack traces.\n"),
    ],
)
def test_no_stack_trace_in_a_strange_file_is_incomplete(
    text: str, code: int, shown: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.log").write_text(text, "utf-8")
    assert main(["logs", "exceptions", str(tmp_path / "a.log")]) == code
    assert shown in capsys.readouterr().out


def test_a_category_lists_the_exceptions_to_its_patterns(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", "explain", "APPLICATION_STOP", "-o", "json"]) == 0
    (item,) = json.loads(capsys.readouterr().out)["items"]
    facts = [(fact["label"], fact["text"]) for fact in item["entry"]["facts"]]
    assert ("level", "INFO") in facts
    assert ("not of logger", "(?i:kafka)") in facts
    assert ("unless", r"\bclientId=") in facts


def test_a_category_is_the_entry_of_its_kind(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", "explain", "producer_fenced", "-o", "json"]) == 0
    (item,) = json.loads(capsys.readouterr().out)["items"]
    assert (item["entry"]["kind"], item["entry"]["name"]) == ("log category", "PRODUCER_FENCED")
    assert main(["explain", "PRODUCER_FENCED log category"]) == 0
    explained = capsys.readouterr().out
    assert main(["logs", "explain", "PRODUCER_FENCED"]) == 0
    assert capsys.readouterr().out == explained
