"""A diagnosis in every format: against golden files, against the formats' own schemas, and with hostile names."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from lxml import etree
from msgspec.structs import replace

from eosctl import __version__
from eosctl.checks.manual import manual_of
from eosctl.checks.registry import ALL_CHECKS
from eosctl.findings.diagnosis import CheckStatus
from eosctl.render.diagnosis.formats import render_diagnosis
from eosctl.render.findings.sarif import FINGERPRINT
from eosctl.render.formats import FindingFormat
from eosctl.render.page import Style
from tests.render.unhappy_cluster import HOSTILE_ID, healthy_report, unhappy_report

HERE = Path(__file__).parent
ROOT = HERE.parent.parent

MANUALS = tuple(map(manual_of, ALL_CHECKS))


def rendered(output: FindingFormat) -> str:
    return render_diagnosis(unhappy_report(), MANUALS, output)


@pytest.mark.parametrize("output", list(FindingFormat))
def test_golden(output: FindingFormat) -> None:
    golden = HERE / "golden" / f"diagnosis.{output.value}"
    text = rendered(output).replace(__version__, "VERSION")
    if os.environ.get("EOSCTL_UPDATE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("output", list(FindingFormat))
def test_a_cluster_without_findings(output: FindingFormat) -> None:
    text = render_diagnosis(healthy_report(), MANUALS, output)
    assert text.endswith("\n") or not text
    if output is FindingFormat.JSON:
        assert json.loads(text)["items"] == []
    if output is FindingFormat.TABLE:
        assert text.startswith("No grade (8 of 69 checks evaluated). No findings")
    if output in (FindingFormat.MARKDOWN, FindingFormat.HTML, FindingFormat.GITHUB):
        assert "8 of 69 checks" in text
        assert "100/100" not in text
        assert "100 of 100" not in text


class TestJson:
    def test_follows_its_schema(self) -> None:
        schema = json.loads((ROOT / "docs" / "schemas" / "diagnosis.json").read_text())
        for report in (unhappy_report(), healthy_report()):
            jsonschema.validate(json.loads(render_diagnosis(report, MANUALS, FindingFormat.JSON)), schema)

    def test_yaml_has_the_same_content(self) -> None:
        assert yaml.safe_load(rendered(FindingFormat.YAML)) == json.loads(rendered(FindingFormat.JSON))

    def test_nothing_is_lost(self) -> None:
        report = unhappy_report()
        value = json.loads(rendered(FindingFormat.JSON))
        assert len(value["items"]) == len(report.diagnosis.findings) == value["counts"]["findings"]
        assert [item["fingerprint"] for item in value["items"]] == [f.fingerprint for f in report.diagnosis.findings]
        assert value["evidence"]["complete"] is False
        assert {check["id"] for check in value["checks"]} == {check.id for check in ALL_CHECKS}


class TestSarif:
    def test_follows_the_standard(self) -> None:
        model = pytest.importorskip("pydantic_sarif.model")
        log = model.StaticAnalysisResultsFormatSarifVersion210JsonSchema.model_validate_json(
            rendered(FindingFormat.SARIF)
        )
        assert len(log.runs) == 1

    def test_results_point_to_rules_and_stable_places(self) -> None:
        (run,) = json.loads(rendered(FindingFormat.SARIF))["runs"]
        rules = run["tool"]["driver"]["rules"]
        for result, finding in zip(run["results"], unhappy_report().diagnosis.findings, strict=True):
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == finding.check_id
            assert result["partialFingerprints"][FINGERPRINT] == finding.fingerprint
            uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
            assert re.fullmatch(r"kafka/kRaft%2F01/[a-z]+/[A-Za-z0-9._%-]+", uri)

    def test_levels(self) -> None:
        (run,) = json.loads(rendered(FindingFormat.SARIF))["runs"]
        assert {(r["properties"]["severity"], r["level"]) for r in run["results"]} == {
            ("critical", "error"),
            ("warning", "warning"),
        }

    def test_checks_that_could_not_run_are_notifications(self) -> None:
        (run,) = json.loads(rendered(FindingFormat.SARIF))["runs"]
        notes = run["invocations"][0]["toolExecutionNotifications"]
        skipped = [r for r in unhappy_report().diagnosis.results if r.status is CheckStatus.SKIPPED]
        assert [note["associatedRule"]["id"] for note in notes] == [result.check_id for result in skipped]
        assert skipped


class TestJunit:
    def test_follows_the_schema_that_readers_expect(self) -> None:
        schema = etree.XMLSchema(etree.parse(HERE / "junit.xsd"))
        for report in (unhappy_report(), healthy_report()):
            text = render_diagnosis(report, MANUALS, FindingFormat.JUNIT)
            schema.assertValid(etree.fromstring(text.encode()))

    def test_a_skip_is_not_a_pass(self) -> None:
        root = etree.fromstring(rendered(FindingFormat.JUNIT).encode())
        results = {result.check_id: result for result in unhappy_report().diagnosis.results}
        for case in root.iter("testcase"):
            result = results.pop(case.get("classname").rpartition(".")[2])
            assert (case.find("failure") is not None) == (result.status is CheckStatus.FAILED)
            not_run = result.status in (CheckStatus.SKIPPED, CheckStatus.NOT_APPLICABLE)
            assert (case.find("skipped") is not None) == not_run
        assert not results

    def test_counts_add_up(self) -> None:
        root = etree.fromstring(rendered(FindingFormat.JUNIT).encode())
        for name in ("tests", "failures", "skipped"):
            assert int(root.get(name)) == sum(int(suite.get(name)) for suite in root)

    def test_characters_that_xml_forbids_are_written_out(self) -> None:
        text = rendered(FindingFormat.JUNIT)
        assert "\x07" not in text
        assert r"\x07" in text


class Page(HTMLParser):
    """Collects tags and text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


class TestHtml:
    @staticmethod
    def page() -> Page:
        page = Page()
        page.feed(rendered(FindingFormat.HTML))
        return page

    def test_needs_nothing_from_outside(self) -> None:
        names = {tag for tag, _ in self.page().tags}
        assert not names & {"script", "link", "img", "iframe", "object"}
        for _, attributes in self.page().tags:
            assert not {"src", "href", "onload", "onclick"} & set(attributes)
        assert "url(" not in rendered(FindingFormat.HTML)
        assert len(rendered(FindingFormat.HTML).encode()) < 2_000_000

    def test_names_stay_text(self) -> None:
        text = "".join(self.page().text)
        assert '<script>alert("1")</script>' in text
        assert "settle<ment>" in text

    def test_draws_the_hanging_transaction(self) -> None:
        drawn = [attributes.get("aria-label") for _, attributes in self.page().tags if attributes.get("role") == "img"]
        assert drawn == ["what was found over time", "payments-1: 1,204 offsets hidden from read_committed readers"]

    def test_says_what_was_not_evaluated_and_why(self) -> None:
        text = " ".join(self.page().text)
        assert "TOPIC_AUTHORIZATION_FAILED" in text
        assert "Grant DescribeConfigs on the topics." in text


class TestTable:
    def test_verdict_first(self) -> None:
        lines = rendered(FindingFormat.TABLE).splitlines()
        assert lines[0].startswith("Grade D (60/100). 3 findings (1 critical, 2 warning);")
        assert "payments-1: read_committed readers cannot see 1,200 records" in lines[1]

    def test_plain_text_has_no_escape_codes_and_is_not_wrapped(self) -> None:
        text = rendered(FindingFormat.TABLE)
        assert "\x1b" not in text
        assert max(len(line) for line in text.splitlines()) > 150

    def test_markup_in_names_stays_text_on_a_terminal(self) -> None:
        text = render_diagnosis(unhappy_report(), MANUALS, FindingFormat.TABLE, Style(100, True))
        bare = re.sub(r"\x1b\[[0-9;]*m", "", text)
        assert "pay[bold]-<script>" in bare
        assert max(len(line) for line in bare.splitlines() if "$ " not in line) <= 100
        assert "\x1b[" in text

    def test_a_command_stays_in_one_piece_on_a_narrow_terminal(self) -> None:
        text = render_diagnosis(unhappy_report(), MANUALS, FindingFormat.TABLE, Style(40, False))
        commands = [line.strip() for line in rendered(FindingFormat.TABLE).splitlines() if "$ " in line]
        assert len(commands) > 3
        shown = [line.strip() for line in text.splitlines()]
        assert [one for one in commands if one not in shown] == []

    def test_wide_lists_gaps_and_fingerprints(self) -> None:
        text = rendered(FindingFormat.WIDE)
        assert "MISSING EVIDENCE" in text
        for finding in unhappy_report().diagnosis.findings:
            assert finding.fingerprint in text


def test_tsv_has_one_row_per_finding_with_any_names() -> None:
    rows: list[Any] = list(csv.reader(io.StringIO(rendered(FindingFormat.TSV)), delimiter="\t", quoting=csv.QUOTE_NONE))
    assert rows.pop(0)[0] == "incomplete"  # Evidence is missing, and no other line could report it.
    assert [row[1] for row in rows] == [finding.check_id for finding in unhappy_report().diagnosis.findings]
    assert {len(row) for row in rows} == {6}
    assert HOSTILE_ID.replace("\x07", "\\x07") in rows[0][4]


def test_many_findings_of_a_check_are_a_row_each() -> None:
    report = unhappy_report()
    group = report.groups[0]
    many = tuple(group._replace(cause=replace(group.cause, message=f"finding {n}")) for n in range(3_000))
    page = render_diagnosis(report._replace(groups=many), MANUALS, FindingFormat.HTML)
    assert page.count("<article") == 20
    assert all(f"finding {n}<" in page for n in range(3_000))
    rest = 2_980 * (1 + len(group.symptoms))
    assert f"<summary>{rest:,} more of {group.cause.check_id}: " in page
    assert len(page) < 1_500_000
