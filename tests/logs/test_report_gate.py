"""The formats and the gate that `logs report` shares with `doctor`."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from lxml import etree

from eosctl.render.formats import FindingFormat
from tests.commands.conftest import eosctl

ROOT = Path(__file__).parents[2]
LOGS = ROOT / "tests" / "fixtures" / "logs"
ZOMBIE = LOGS / "second-producer-392"
UNEXPLAINED = (
    "[2026-11-22 18:42:42,118] ERROR [GroupMetadataManager brokerId=1] Error loading offsets from __consumer_offsets-0 "
    "(kafka.coordinator.group.GroupMetadataManager)\n"
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def suppress_all(project: Path, logs: Path) -> None:
    """Suppress everything in a report of the logs."""
    (run,) = eosctl("logs", "report", logs, "-o", "sarif").json["runs"]
    ids = sorted({result["ruleId"] for result in run["results"]})
    entries = "".join(f"- {{id: {one}, reason: planned in May}}\n" for one in ids)
    (project / ".eosctl.yaml").write_text(f"suppressions:\n{entries}", "utf-8")


def test_sarif_follows_the_standard_and_holds_every_incident() -> None:
    model = pytest.importorskip("pydantic_sarif.model")
    done = eosctl("logs", "report", ZOMBIE, "-o", "sarif")
    model.StaticAnalysisResultsFormatSarifVersion210JsonSchema.model_validate_json(done.out)
    (run,) = done.json["runs"]
    report = eosctl("logs", "report", ZOMBIE, "-o", "json").json
    assert len(run["results"]) == len(report["incidents"]) + len(report["unexplained"]) > 0
    causes = [result["properties"]["facts"].get("root_cause") for result in run["results"]]
    assert {one["root_cause"] for one in report["incidents"]} <= set(causes)


def test_junit_fails_for_findings_and_never_passes_unread_input(project: Path) -> None:
    schema = etree.XMLSchema(etree.parse(ROOT / "tests" / "render" / "junit.xsd"))
    root = etree.fromstring(eosctl("logs", "report", ZOMBIE, "-o", "junit").out.encode())
    schema.assertValid(root)
    assert int(root.get("failures")) > 0
    (project / "notes.log").write_text("nothing of Kafka\nnothing at all\n", "utf-8")
    for name in ("notes.log", "empty.log"):
        (project / "empty.log").touch()
        done = eosctl("logs", "report", name, "-o", "junit")
        root = etree.fromstring(done.out.encode())
        schema.assertValid(root)
        passed = [case for case in root.iter("testcase") if not len(case)]
        assert (done.code, passed, int(root.get("errors")) > 0) == (4, [], True)


def test_records_that_call_for_action_are_findings(project: Path) -> None:
    (project / "server.log").write_text(UNEXPLAINED, "utf-8")
    (run,) = eosctl("logs", "report", "server.log", "-o", "sarif").json["runs"]
    (result,) = run["results"]
    assert result["ruleId"] == "logs/coordinator_load_failed"
    assert (
        "::error file=server.log,line=1,title=logs/coordinator_load_failed"
        in eosctl("logs", "report", "server.log", "-o", "github").out
    )


@pytest.mark.parametrize("output", list(FindingFormat))
def test_every_format_shows_what_is_suppressed(output: FindingFormat, project: Path) -> None:
    suppress_all(project, ZOMBIE)
    done = eosctl("logs", "report", ZOMBIE, "-o", output.value, "--fail-on", "info")
    assert (done.code, "planned in May" in done.out + done.err) == (0, True)


def test_a_suppressed_incident_is_not_an_item(project: Path) -> None:
    suppress_all(project, ZOMBIE)
    report = eosctl("logs", "report", ZOMBIE, "-o", "json").json
    jsonschema.validate(report, json.loads((ROOT / "docs" / "schemas" / "logs.json").read_text("utf-8")))
    assert (report["incidents"], report["unexplained"]) == ([], [])
    assert report["suppressed"]


def test_thresholds(project: Path) -> None:
    assert eosctl("logs", "report", ZOMBIE).code == 0
    assert eosctl("logs", "report", ZOMBIE, "--fail-on", "error", "--exit-zero").code == 0
    (project / ".eosctl.yaml").write_text("fail_on: error\n", "utf-8")
    assert eosctl("logs", "report", ZOMBIE).code == 3


def test_a_file_that_was_hardly_recognized_is_incomplete(project: Path) -> None:
    (project / "server.log").write_text(UNEXPLAINED + "@@ other\n" * 9, "utf-8")
    assert eosctl("logs", "report", "server.log").code == 0
    assert eosctl("logs", "report", "server.log", "--require-complete").code == 4
    (project / "notes.log").write_text("nothing of Kafka\n" * 5, "utf-8")
    assert eosctl("logs", "report", "server.log", "notes.log").code == 4
