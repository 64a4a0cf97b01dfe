"""The shared formats and the gate of `config lint`: schemas, baseline, suppressions, first actions."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from eosctl.settings.files.inline_suppressions import read_inline_suppressions
from tests.commands.conftest import eosctl

JUNIT = Path(__file__).parent.parent / "render" / "junit.xsd"
STREAMS = "application.id=a\nprocessing.guarantee=exactly_once_v2\ncommit.interval.ms=30000\n"
FORMATS = ("table", "wide", "json", "yaml", "markdown", "sarif", "junit", "github", "html")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app.properties").write_text(STREAMS, "utf-8")
    return tmp_path


def test_sarif_follows_the_standard(project: Path) -> None:
    model = pytest.importorskip("pydantic_sarif.model")
    done = eosctl("config", "lint", "app.properties", "-o", "sarif")
    model.StaticAnalysisResultsFormatSarifVersion210JsonSchema.model_validate_json(done.out)


def test_junit_has_a_test_per_rule_and_one_per_unread_file(project: Path) -> None:
    (project / "broken.json").write_text('{"kafka": ', "utf-8")
    done = eosctl("config", "lint", ".", "-o", "junit")
    root = etree.fromstring(done.out.encode())
    etree.XMLSchema(etree.parse(JUNIT)).assertValid(root)
    assert [case.get("name") for case in root.iter("testcase") if case.find("error") is not None] == ["broken.json"]
    (failed,) = [case for case in root.iter("testcase") if case.find("failure") is not None]
    assert failed.get("classname").endswith("EOS-CFG-001")
    assert done.code == 2


def test_an_external_value_is_skipped_and_incomplete(project: Path) -> None:
    (project / "app.properties").write_text("transactional.id=t\nacks=${ACKS}\n", "utf-8")
    done = eosctl("config", "lint", "app.properties", "-o", "junit")
    skipped = [case.get("name") for case in etree.fromstring(done.out.encode()).iter("testcase") if len(case)]
    assert (done.code, "app.properties:2" in skipped) == (0, True)
    assert eosctl("config", "lint", "app.properties", "--require-complete").code == 4


def test_one_problem_has_the_same_first_action_in_every_format(project: Path) -> None:
    (action,) = eosctl("config", "lint", "app.properties", "-o", "json").json["actions"]
    assert action["check_ids"] == ["EOS-CFG-001"]
    for command in (("config", "lint"), ("doctor",)):
        table = eosctl(*command, "app.properties").out
        assert f"FIRST\n  1.        {action['step']} (EOS-CFG-001)\n" in table
        markdown = eosctl(*command, "app.properties", "-o", "markdown").out
        assert "## First\n\n1. " in markdown
        html = eosctl(*command, "app.properties", "-o", "html").out
        assert "<h2>First</h2>" in html


def test_a_baseline_hides_known_findings(project: Path) -> None:
    assert eosctl("config", "lint", "app.properties", "--write-baseline", "known.json").code == 3
    assert eosctl("config", "lint", "app.properties", "--baseline", "known.json").code == 0
    (project / "other.properties").write_text(STREAMS, "utf-8")
    done = eosctl("config", "lint", ".", "--baseline", "known.json", "-o", "json")
    assert (done.code, [item["file"] for item in done.json["items"]]) == (3, ["other.properties"])


def test_rules_of_the_project_apply(project: Path) -> None:
    (project / "app.properties").write_text("transactional.id=t\nmax.block.ms=1\n", "utf-8")
    assert eosctl("config", "lint", "app.properties").code == 0
    (project / ".eosctl.yaml").write_text("fail_on: warning\nmin_score: 100\n", "utf-8")
    assert eosctl("config", "lint", "app.properties").code == 3
    assert eosctl("config", "lint", "app.properties", "--fail-on", "error").code == 0
    assert eosctl("config", "lint", "app.properties", "--exit-zero").code == 0


@pytest.mark.parametrize("output", FORMATS)
@pytest.mark.parametrize("how", ["file", "comment"])
def test_a_suppressed_finding_is_shown_with_its_reason(project: Path, how: str, output: str) -> None:
    if how == "file":
        entry = "{id: EOS-CFG-001, scope: app.properties, reason: moved in May}"
        (project / ".eosctl.yaml").write_text(f"suppressions: [{entry}]\n", "utf-8")
    else:
        text = STREAMS.replace("commit", "# eosctl: ignore EOS-CFG-001 moved in May\ncommit")
        (project / "app.properties").write_text(text, "utf-8")
    done = eosctl("config", "lint", "app.properties", "-o", output)
    assert (done.code, "moved in May" in done.out) == (0, True)


@pytest.mark.parametrize("output", ["tsv", "prometheus"])
def test_suppressions_without_a_place_are_on_standard_error(project: Path, output: str) -> None:
    (project / ".eosctl.yaml").write_text("suppressions: [{id: EOS-CFG-001, reason: moved in May}]\n", "utf-8")
    done = eosctl("config", "lint", "app.properties", "-o", output)
    assert (done.code, "moved in May" in done.err) == (0, True)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("app.yml", "spring:\n  kafka:\n    producer:\n      acks: '1'  # eosctl: ignore EOS-CFG-011 test system\n"),
        (
            "app.yml",
            "spring:\n  kafka:\n    producer:\n      # eosctl: ignore EOS-CFG-011 test system\n      acks: '1'\n",
        ),
        ("app.toml", '# eosctl: ignore EOS-CFG-011 test system\n"acks" = "1"\n'),
        ("app.env", "# eosctl: ignore EOS-CFG-011 test system\nKAFKA_ACKS=1\n"),
        ("app.conf", "# eosctl: ignore EOS-CFG-011 test system\nacks=1\n"),
    ],
)
def test_comments_in_every_format(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    (found,) = read_inline_suppressions([str(path)]).suppressions
    line = next(number for number, line in enumerate(text.splitlines(), 1) if "acks" in line.lower())
    assert (found.check_id, found.scope, found.reason) == ("EOS-CFG-011", f"{path}:{line}", "test system")


@pytest.mark.parametrize(
    ("comment", "remark"),
    [
        ("# eosctl: ignore EOS-CFG-001", "has no reason"),
        ("# eosctl: ignore everything please", "names no rule"),
        ("# eosctl: ignore EOS-CFG-002 other rule", ""),
    ],
)
def test_a_comment_that_is_not_understood_hides_nothing(project: Path, comment: str, remark: str) -> None:
    (project / "app.properties").write_text(STREAMS.replace("commit", f"{comment}\ncommit"), "utf-8")
    done = eosctl("config", "lint", "app.properties", "-o", "json")
    assert (done.code, [item["id"] for item in done.json["items"]]) == (3, ["EOS-CFG-001"])
    assert remark in " ".join(done.json["remarks"])


def test_a_comment_after_a_value_is_part_of_it_in_properties(project: Path) -> None:
    path = project / "app.properties"
    path.write_text(f"{STREAMS.rstrip()} # eosctl: ignore EOS-CFG-001 moved in May\n", "utf-8")
    done = eosctl("config", "lint", "app.properties", "-o", "json")
    assert done.json["counts"]["suppressed"] == 0
    assert "needs a line of its own" in done.json["remarks"][0]


@pytest.mark.parametrize(
    ("file", "text", "code"),
    [
        ("start.sh", "# each has its own transactional.id\nexec app\n", 0),
        ("values.yaml", "# each has its own transactional.id\na: 1\n", 0),
        ("start.sh", 'echo "the transactional.id is made by the chart"\n', 2),
        ("Dockerfile", "FROM app\nRUN echo transactional.id >id\n", 2),
        ("values.yaml", "text: the transactional.id is made by the chart\n", 2),
        ("list.sh", "kafka-configs.sh --describe --all | grep min.insync.replicas\n", 0),
        ("quotas.txt", "Quota configs for client-id 'a' are consumer_byte_rate=1.0\n", 4),
    ],
)
def test_a_file_without_settings_ends_alike_by_any_name(project: Path, file: str, text: str, code: int) -> None:
    (project / file).write_text(text, "utf-8")
    assert eosctl("config", "lint", file).code == code


@pytest.mark.parametrize("name", ["streams.properties", "streams.yaml"])
def test_lint_doctor_and_fix_respect_the_same_comments(tmp_path: Path, name: str) -> None:
    mark = "# eosctl: ignore EOS-CFG-012 the broker is far away\n"
    text = "bootstrap.servers=k:9092\ntransactional.id=a-1\n{}retries=0\n"
    text = text if name.endswith("properties") else text.replace("=", ": ")
    path = tmp_path / name
    for comment, code in ((mark, 0), ("", 3)):
        path.write_text(text.format(comment), "utf-8")
        assert eosctl("config", "lint", path, "--fail-on", "error").code == code
        assert eosctl("doctor", path, "--fail-on", "error").code == code
        fixed = eosctl("config", "fix", path)
        assert ("retries" in fixed.out) is (code == 3)


def test_doctor_names_a_comment_that_hides_nothing(tmp_path: Path) -> None:
    path = tmp_path / "p.properties"
    path.write_text("transactional.id=a-1\n# eosctl: ignore EOS-CFG-012\nretries=0\n", "utf-8")
    done = eosctl("doctor", path)
    assert "has no reason, so it hides nothing" in done.err
