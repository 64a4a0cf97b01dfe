"""Every format and gate that the page of findings names works on a small input."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
import yaml
from lxml import etree

from eosctl.lab.history.events import Ended, EndInvoked, Outcome, Polled, SendInvoked, Sent
from eosctl.lab.verify.plan import VerifyPlan
from eosctl.lab.verify.runs import RunRecord, save_run
from eosctl.model.transaction import TopicPartition
from eosctl.render.schemas import schema_of
from scripts.findings_page import Offer, offers
from tests.commands.conftest import eosctl
from tests.storage.cases import FIXTURES

ROOT = Path(__file__).parents[2]
STREAMS = "application.id=a\nprocessing.guarantee=exactly_once_v2\ncommit.interval.ms=30000\n"
BOOK = """format: eosctl/v1
id: planted
title: Planted
about: A runbook with one flaw.
symptoms: [planted]
steps:
  - {id: a, type: probe, say: A., run: brokers, next: nowhere}
"""
LIST = """id: ours
title: Ours
purpose: Before it starts.
version: 1
items:
- {id: quick, kind: measured, title: "Is it quick?", why: It must be., fix: Tune it., limit: {unit: ms, at_most: 9}}
- {id: told, kind: manual, title: "Does the team know?", why: They are asked., fix: Tell them.}
"""
PARTITION = TopicPartition("t", 0)
ABORTED_READ = (
    SendInvoked(1, "writer", "w/1", PARTITION, "a"),
    Sent(2, "writer", PARTITION, "a", 0),
    EndInvoked(3, "writer", "w/1", committed=False),
    Ended(4, "writer", "w/1", Outcome.ABORTED),
    Polled(5, "reader", PARTITION, 0, "a"),
)
RECORD = RunRecord(
    run_id="one",
    plan=VerifyPlan(prefix="one", seed=1),
    where={},
    cluster_id="c",
    cluster="a sandbox",
    faults=(),
    fault_kinds=(),
    speaks_end_txn_5=True,
    unsettled=("a reader did not get to the end",),
    refused_faults=(),
    left_topics=(),
    began_at_ms=0,
    eosctl_version="0",
)
ZOMBIE = ROOT / "tests" / "fixtures" / "logs" / "second-producer-392"
OFFERS = {one.command: one for one in offers()}
#: Their result is written by the function that writes that of `verify show`; tests/lab/verify run them.
ALIKE = ("verify run", "verify replay", "verify app", "verify dlq")
TRIED = [one for one in OFFERS.values() if one.command not in ALIKE]
CELLS = [(one.command, output) for one in TRIED for output in one.formats]
GATED = [(one.command, gate) for one in TRIED for gate in one.gates]

INCOMPLETE = {
    "doctor": 4,
    "check run": 4,
    "config lint": 0,
    "fsck": 4,
    "runbook lint": 4,
    "checklist run": 4,
    "verify show": 4,
}
"""The exit code of each input with --require-complete, when all its findings are known."""

COMPLETE_BY_DEFAULT = ("checklist run", "verify show")
"""Commands that need --no-require-complete to end with 0 where something is missing."""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app.properties").write_text(STREAMS, "utf-8")
    (tmp_path / "book.yaml").write_text(BOOK, "utf-8")
    (tmp_path / "list.yaml").write_text(LIST, "utf-8")
    save_run(RECORD, ABORTED_READ).rename(tmp_path / "run")
    return tmp_path


@pytest.fixture
def arguments(project: Path, snapshot_file: Path) -> Callable[[str], tuple[str | Path, ...]]:
    inputs: dict[str, tuple[str | Path, ...]] = {
        "doctor": ("doctor", "app.properties", "--snapshot", snapshot_file),
        "check run": ("check", "run", "--snapshot", snapshot_file),
        "config lint": ("config", "lint", "app.properties"),
        "fsck": ("fsck", FIXTURES / "damaged-bitflip-payload" / "data"),
        "logs report": ("logs", "report", ZOMBIE, "--engine", "python"),
        "runbook lint": ("runbook", "lint", "book.yaml"),
        "checklist run": ("checklist", "run", "list.yaml", "--measure", "quick=10"),
        "verify show": ("verify", "show", project / "run"),
    }
    return lambda command: inputs[command]


def _is_valid(output: str, text: str) -> None:
    """Hold a result to the rules of its format."""
    match output:
        case "json":
            value = json.loads(text)
            schema = json.loads(
                (ROOT / "docs/schemas" / f"{value['schema'].partition('.')[2]}.json").read_text("utf-8")
            )
            jsonschema.validate(value, schema)
        case "yaml":
            value = yaml.safe_load(text)
            name = value["schema"].partition(".")[2]
            assert schema_of(name)["$id"] == f"urn:eosctl:schema:{name}:{value['schema_version']}"
        case "sarif":
            model = pytest.importorskip("pydantic_sarif.model")
            model.StaticAnalysisResultsFormatSarifVersion210JsonSchema.model_validate_json(text)
            assert json.loads(text)["runs"][0]["results"]
        case "junit":
            root = etree.fromstring(text.encode())
            etree.XMLSchema(etree.parse(ROOT / "tests" / "render" / "junit.xsd")).assertValid(root)
            assert int(root.get("failures")) > 0
        case "github":
            assert all(line.startswith("::") for line in text.splitlines())
        case "prometheus":
            assert [line for line in text.splitlines() if line and not line.startswith(("#", "eosctl_"))] == []
        case "csv":
            names, *rows = csv.reader(io.StringIO(text))
            assert all(name.islower() for name in names)
            assert rows and {len(row) for row in rows} == {len(names)}
        case "html":
            assert text.startswith("<!doctype html>") and text.rstrip().endswith("</html>")
        case "markdown":
            assert text.startswith("# ")
        case _:
            assert text


@pytest.mark.parametrize(("command", "output"), CELLS)
def test_every_format_works(command: str, output: str, arguments: Callable[[str], tuple[str | Path, ...]]) -> None:
    done = eosctl(*arguments(command), "-o", output)
    assert done.code in (0, 3, 4), done.err
    _is_valid(output, done.out)


@pytest.mark.parametrize("command", [one.command for one in TRIED])
def test_rows_begin_with_the_names_of_columns_when_asked(
    command: str, arguments: Callable[[str], tuple[str | Path, ...]]
) -> None:
    def rendered(*options: str) -> str:
        return re.sub(r"20\d\d-[\d:.T-]+Z", "TIME", eosctl(*arguments(command), *options).out)

    plain = rendered("-o", "tsv").splitlines()
    named = rendered("-o", "tsv", "--header").splitlines()
    table = list(csv.reader(io.StringIO(rendered("-o", "csv"))))
    bare = list(csv.reader(io.StringIO(rendered("-o", "csv", "--no-header"))))
    assert named[1:] == plain
    assert named[0].split("\t") == table[0]
    assert table[1:] == bare
    assert len(bare) == len(plain)


@pytest.mark.parametrize("output", ["tsv", "csv", "prometheus"])
@pytest.mark.parametrize("command", [one.command for one in TRIED if "--baseline" in one.gates])
def test_formats_without_suppressions_report_them_on_stderr(
    command: str, output: str, arguments: Callable[[str], tuple[str | Path, ...]]
) -> None:
    given = arguments(command)
    assert eosctl(*given, "--write-baseline", "known.json").code == 3
    known = json.loads(Path("known.json").read_text("utf-8"))["findings"]
    done = eosctl(*given, "--baseline", "known.json", "-o", output)
    named = [line for line in done.err.splitlines() if line.startswith("suppressed: ")]
    assert len(named) == len({one["fingerprint"] for one in known})
    assert all("known: the baseline has it" in line for line in named)


@pytest.mark.parametrize(("command", "gate"), [cell for cell in GATED if cell[0] != "logs report"])
def test_every_gate_decides_the_exit_code(
    command: str, gate: str, project: Path, arguments: Callable[[str], tuple[str | Path, ...]]
) -> None:
    given = arguments(command)
    assert eosctl(*given).code == 3
    assert eosctl(*given, "--write-baseline", "known.json").code == 3
    (project / "rules.yaml").write_text("fail_on: unknown\n", "utf-8")
    lenient = ("--no-require-complete",) if command in COMPLETE_BY_DEFAULT else ()
    match gate:
        case "--fail-on":
            assert eosctl(*given, "--baseline", "known.json", *lenient, gate, "info").code == 0
            assert eosctl(*given, gate, "info").code == 3
        case "--exit-zero":
            assert eosctl(*given, gate).code == 0
        case "--min-score":
            critical = {
                one["fingerprint"]
                for one in eosctl(*given, "-o", "json").json["items"]
                if one["severity"] == "critical"
            }
            known = json.loads((project / "known.json").read_text("utf-8"))
            known["findings"] = [one for one in known["findings"] if one["fingerprint"] in critical]
            (project / "critical.json").write_text(json.dumps(known), "utf-8")
            assert eosctl(*given, "--baseline", "critical.json").code == 0
            assert eosctl(*given, "--baseline", "critical.json", gate, "100").code == 3
        case "--baseline":
            assert eosctl(*given, gate, "known.json", *lenient).code == 0
        case "--require-complete":
            assert eosctl(*given, "--baseline", "known.json", gate).code == INCOMPLETE[command]
        case "--rules":
            assert eosctl(*given, gate, "rules.yaml").code == 2
        case _:
            assert json.loads((project / "known.json").read_text("utf-8"))["findings"]


@pytest.mark.parametrize("command", [one.command for one in TRIED if one.command != "logs report"])
def test_every_id_can_be_suppressed(
    command: str, project: Path, arguments: Callable[[str], tuple[str | Path, ...]]
) -> None:
    given = arguments(command)
    lenient = ("--no-require-complete",) if command in COMPLETE_BY_DEFAULT else ()
    assert eosctl(*given, *lenient, "--write-baseline", "known.json").code == 3
    ids = {one["check_id"] for one in json.loads((project / "known.json").read_text("utf-8"))["findings"]}
    rules = {"suppressions": [{"id": one, "reason": "accepted"} for one in sorted(ids)]}
    (project / ".eosctl.yaml").write_text(yaml.safe_dump(rules), "utf-8")
    done = eosctl(*given, *lenient)
    assert done.code == 0, done.err
    assert "accepted" in done.out


def test_verifications_have_the_gates_of_their_show_command() -> None:
    assert {OFFERS[name].gates for name in ALIKE} == {OFFERS["verify show"].gates}


def test_every_command_offers_every_format() -> None:
    full: set[tuple[str, ...]] = {one.formats for one in OFFERS.values()}
    assert len(full) == 1
    assert isinstance(OFFERS["fsck"], Offer)
    assert {"sarif", "junit", "github", "markdown", "html", "prometheus"} < set(full.pop())
