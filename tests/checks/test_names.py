"""A check is accepted by its name wherever it is by its id."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from eosctl.checks.checklist import unknown_references, with_check_ids
from eosctl.checks.registry import CATALOG, check_id_of, find_check, select_checks
from eosctl.errors import ConfigFileError
from eosctl.knowledge.checklist_files import parse_checklist
from eosctl.lab.scenarios.load import parse_script
from eosctl.runbooks.lint import lint_runbook
from eosctl.runbooks.load import example, parse_runbook
from eosctl.runbooks.readings import read_doctor
from eosctl.services.gate import read_gate
from eosctl.services.gate_options import GateOptions
from tests.checks.cases import build
from tests.commands.conftest import eosctl

HANGING = "EOS-TXN-001"
CHECKLIST = """
id: own
title: Own
purpose: To be sure.
version: 1
items:
- {id: one, title: One, kind: automatic, checks: [%s], also: [%s], why: It breaks., fix: Repair it.}
"""


def test_a_check_is_found_by_id_and_by_name_in_any_case() -> None:
    for check in CATALOG:
        assert find_check(check.id.lower()) is find_check(check.name.upper()) is check


def test_no_name_is_an_area_or_a_tag() -> None:
    words = {word.lower() for check in CATALOG for word in (check.area.value, *check.tags)}
    assert {check.name for check in CATALOG} & words == set()


def test_commands_accept_names() -> None:
    # A finding of fsck has the same name; the check comes first.
    assert eosctl("check", "explain", "hanging-transaction").out.startswith(eosctl("check", "explain", HANGING).out)
    listed = eosctl("check", "list", "Hanging-Transaction", "-o", "json").json["items"]
    assert [(item["id"], item["name"]) for item in listed] == [(HANGING, "hanging-transaction")]
    assert [check.id for check in select_checks(["hanging-transaction"])] == [HANGING]
    refused = eosctl("check", "explain", "hanging-transactoin")
    assert refused.code == 2
    assert "'hanging-transaction'" in refused.err


def test_check_run_refuses_the_name_of_a_rule_over_files() -> None:
    refused = eosctl("check", "run", "consumer-reads-uncommitted")
    assert refused.code == 2
    assert "config lint" in refused.err


def suppressions(tmp_path: Path, name: str) -> list[str]:
    path = tmp_path / "rules.yaml"
    path.write_text(f"suppressions:\n- {{id: {name}, reason: Known.}}\n")
    return [one.check_id for one in read_gate(GateOptions(rules=path)).suppressions]


def test_suppressions_accept_names(tmp_path: Path) -> None:
    assert suppressions(tmp_path, "hanging-transaction") == [HANGING]
    assert suppressions(tmp_path, HANGING.lower()) == [HANGING]


@pytest.mark.parametrize(
    ("name", "hint"), [("hanging-transactoin", "hanging-transaction"), ("EOS-TXN-1", "EOS-TXN-001")]
)
def test_suppressions_refuse_what_names_no_check(tmp_path: Path, name: str, hint: str) -> None:
    with pytest.raises(ConfigFileError) as refused:
        suppressions(tmp_path, name)
    assert hint in str(refused.value)


def test_checklists_accept_names() -> None:
    named = parse_checklist(CHECKLIST % ("hanging-transaction", "transaction-log-not-durable"), "own.yaml")
    resolved = with_check_ids(named, check_id_of)
    assert [(item.checks, item.also) for item in resolved.items] == [((HANGING,), ("EOS-BRK-001",))]
    assert unknown_references(resolved, frozenset(check.id for check in CATALOG)) == ()


def test_runbooks_accept_names() -> None:
    text = example("own")
    assert "\nsymptoms:" in text
    flaws = {}
    for name in ("hanging-transaction", "hanging-transactoin"):
        book = parse_runbook(text.replace("\nsymptoms:", f"\nfindings: [{name}]\nsymptoms:", 1), "own.yaml").book
        flaws[name] = [flaw.message for flaw in lint_runbook(book) if "check" in flaw.message]
    assert flaws == {"hanging-transaction": [], "hanging-transactoin": ["There is no check hanging-transactoin."]}


def test_the_doctor_probe_of_runbooks_accepts_names() -> None:
    snapshot = build({"brokers": []})
    by_name = read_doctor(snapshot, {"checks": "hanging-transaction, transaction-log-not-durable"})
    assert by_name == read_doctor(snapshot, {"checks": f"{HANGING},EOS-BRK-001"})


def test_scenarios_accept_names(tmp_path: Path) -> None:
    text = (files("eosctl.lab.scenarios") / "library" / "txn-timeout.yaml").read_text(encoding="utf-8")
    named = text.replace("[EOS-TXN-006]", "[aborted-by-timeout]").replace("[EOS-TXN-001]", "[hanging-transaction]")
    path = tmp_path / "own.yaml"
    path.write_text(named)
    played = eosctl("sandbox", "scenario", "run", path)
    assert played.code == 0, played.out
    assert re.search(r"the check aborted-by-timeout +finds something +finds something", played.out)
    assert re.search(r"the check hanging-transaction +finds nothing +finds nothing", played.out)
    with pytest.raises(ConfigFileError, match="hanging-transactoin"):
        parse_script(named.replace("hanging-transaction", "hanging-transactoin"), "own.yaml")
