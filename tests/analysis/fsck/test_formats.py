"""The formats and the gate that `fsck` shares with `doctor`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema
import pytest
from lxml import etree

from eosctl.findings.fsck.consequences import CONSEQUENCES
from eosctl.findings.fsck.titles import TITLES
from eosctl.render.formats import FindingFormat
from tests.commands.decode.running import run
from tests.storage.cases import FIXTURES

ROOT = Path(__file__).parents[3]
DAMAGED = FIXTURES / "damaged-bitflip-payload" / "data"
HEALTHY = FIXTURES / "k431-tv2-state-log-live" / "data"
APART = FIXTURES / "marker-skipped-3" / "data-broker-2"
RULE = "suppressions: [{id: fsck/crc-mismatch, scope: '*transfers-0*', reason: copied for a test}]\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_kind_has_a_title() -> None:
    assert TITLES.keys() == CONSEQUENCES.keys()
    assert [title for title in TITLES.values() if len(title) > 60] == []


def test_sarif_follows_the_standard_and_names_the_byte(capsys: pytest.CaptureFixture[str]) -> None:
    model = pytest.importorskip("pydantic_sarif.model")
    ran = run(capsys, "fsck", DAMAGED, "-o", "sarif")
    model.StaticAnalysisResultsFormatSarifVersion210JsonSchema.model_validate_json(ran.out)
    (log,) = json.loads(ran.out)["runs"]
    (result,) = [one for one in log["results"] if one["level"] == "error"]
    place = result["locations"][0]["physicalLocation"]
    assert (ran.code, result["ruleId"]) == (3, "fsck/crc-mismatch")
    assert log["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "fsck/crc-mismatch"
    assert place["artifactLocation"]["uri"].endswith("transfers-0/00000000000000000000.log")
    assert place["region"] == {"byteOffset": 978}
    assert result["properties"]["facts"]["offset"] == 6


def test_junit_skips_what_the_directories_cannot_show(capsys: pytest.CaptureFixture[str]) -> None:
    root = etree.fromstring(run(capsys, "fsck", DAMAGED, "-o", "junit").out.encode())
    etree.XMLSchema(etree.parse(ROOT / "tests" / "render" / "junit.xsd")).assertValid(root)
    cases = {case.get("classname").rpartition("/")[2]: [one.tag for one in case] for case in root.iter("testcase")}
    assert cases.keys() == CONSEQUENCES.keys()
    assert cases["crc-mismatch"] == ["failure"]
    assert cases["replica-differs"] == cases["hanging-transaction"] == cases["offset-beyond-log"] == ["skipped"]
    assert cases["bad-magic"] == []


def test_an_undecided_transaction_is_incomplete_evidence(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "fsck", APART).code == 0
    assert run(capsys, "fsck", APART, "--require-complete").code == 4
    assert run(capsys, "fsck", HEALTHY, "--require-complete").code == 0
    (gap,) = json.loads(run(capsys, "fsck", APART, "-o", "json").out)["gaps"]
    assert "__transaction_state" in gap["next_step"]


def test_json_follows_its_schema(capsys: pytest.CaptureFixture[str]) -> None:
    schema = json.loads((ROOT / "docs" / "schemas" / "fsck.json").read_text("utf-8"))
    for directory in (DAMAGED, HEALTHY, APART):
        jsonschema.validate(json.loads(run(capsys, "fsck", directory, "-o", "json").out), schema)


@pytest.mark.parametrize("output", list(FindingFormat))
def test_every_format_names_the_finding(output: FindingFormat, capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(capsys, "fsck", DAMAGED, "-o", output.value)
    assert (ran.code, "crc-mismatch" in ran.out) == (3, True)


@pytest.mark.parametrize("output", list(FindingFormat))
def test_every_format_shows_what_is_suppressed(
    output: FindingFormat, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / ".eosctl.yaml").write_text(RULE, "utf-8")
    ran = run(capsys, "fsck", DAMAGED, "-o", output.value)
    assert (ran.code, "copied for a test" in ran.out + ran.err) == (0, True)


def test_thresholds(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "fsck", DAMAGED, "--fail-on", "critical").code == 0
    assert run(capsys, "fsck", DAMAGED, "--exit-zero").code == 0
    assert run(capsys, "fsck", APART, "--fail-on", "info").code == 3
    (project / ".eosctl.yaml").write_text("fail_on: critical\nmin_score: 100\n", "utf-8")
    assert run(capsys, "fsck", DAMAGED).code == 0


def test_suppressions_of_other_commands_are_not_remarked_on(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = "suppressions: [{id: EOS-CFG-001, reason: r}, {id: fsck/bad-magic, reason: r}]\n"
    (project / ".eosctl.yaml").write_text(rules, "utf-8")
    (remark,) = json.loads(run(capsys, "fsck", DAMAGED, "-o", "json").out)["remarks"]
    assert remark == "The suppression of fsck/bad-magic (*) matches no finding: remove it."


def test_a_baseline_hides_the_same_place_and_no_other(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = shutil.copytree(DAMAGED, project / "data")
    assert run(capsys, "fsck", data, "--write-baseline", "known.json").code == 3
    assert run(capsys, "fsck", data, "--baseline", "known.json").code == 0
    log = data / "transfers-0" / "00000000000000000000.log"
    damaged = bytearray(log.read_bytes())
    damaged[100] ^= 1
    log.write_bytes(damaged)
    ran = run(capsys, "fsck", data, "--baseline", "known.json", "-o", "json")
    assert ran.code == 3
    assert 978 not in {item["position"] for item in json.loads(ran.out)["items"] if item["kind"] == "crc-mismatch"}


def test_the_first_action_is_the_same_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    (action,) = json.loads(run(capsys, "fsck", DAMAGED, "-o", "json").out)["actions"]
    assert f"1.        {action['step']} (fsck/crc-mismatch)" in run(capsys, "fsck", DAMAGED).out
    assert f"1. {action['step']} (fsck/crc-mismatch)" in run(capsys, "fsck", DAMAGED, "-o", "markdown").out
    assert "<h2>First</h2>" in run(capsys, "fsck", DAMAGED, "-o", "html").out
