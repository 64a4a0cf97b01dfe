"""The schemas of files that users write: what they accept is what the program reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator, FormatChecker

from eosctl.errors import ConfigFileError
from eosctl.render.schemas import SHAPES, schema_of
from eosctl.runbooks.load import example
from eosctl.services.about import FILE_SCHEMAS
from eosctl.settings.files.gate_file import read_gate_rules

ROOT = Path(__file__).parents[2]
GOOD = """fail_on: error
min_score: 80
suppressions:
  - id: EOS-BRK-002
    scope: cluster *
    reason: Brokers are upgraded in August, see CHANGE-4711.
    expires: '2026-08-31'
  - {id: hanging-transaction, reason: A test.}
  - {id: fsck/crc-mismatch, reason: A test.}
  - {id: logs/producer_fenced, reason: A test.}
  - {id: checklist/eos-go-live/broker-replicas, reason: A test.}
"""
BAD = (
    "fail_on: fatal",
    "min_score: 101",
    "min_score: many",
    "suppresions: []",
    "suppressions: {id: EOS-BRK-002}",
    "suppressions: [{id: EOS-BRK-002}]",
    "suppressions: [{id: EOS-BRK-002, reason: ''}]",
    "suppressions: [{id: EOS-BRK-2, reason: a}]",
    "suppressions: [{id: eos-brk-2, reason: a}]",
    "suppressions: [{id: 'a b', reason: a}]",
    "suppressions: [{id: EOS-BRK-002, reason: a, until: '2026-08-31'}]",
    "suppressions: [{id: EOS-BRK-002, reason: a, expires: '31.08.2026'}]",
)


def errors(schema: str, document: Any) -> list[str]:
    validator = Draft202012Validator(schema_of(schema), format_checker=FormatChecker())
    return [error.message for error in validator.iter_errors(document)]


def test_rules_that_are_read_follow_their_schema(tmp_path: Path) -> None:
    path = tmp_path / ".eosctl.yaml"
    path.write_text(GOOD)
    assert len(read_gate_rules(path).suppressions) == 5
    assert errors("rules", yaml.safe_load(GOOD)) == []


@pytest.mark.parametrize("text", BAD)
def test_rules_that_are_refused_do_not(text: str, tmp_path: Path) -> None:
    path = tmp_path / ".eosctl.yaml"
    path.write_text(text)
    with pytest.raises(ConfigFileError):
        read_gate_rules(path)
    assert errors("rules", yaml.safe_load(text)) != []


@pytest.mark.parametrize(
    ("schema", "folder"), [("runbook", "eosctl/runbooks/library"), ("checklist", "eosctl/knowledge/checklists")]
)
def test_shipped_files_follow_their_schema(schema: str, folder: str) -> None:
    files = sorted((ROOT / folder).glob("*.yaml"))
    assert len(files) > 10
    found = {path.name: errors(schema, yaml.safe_load(path.read_text("utf-8"))) for path in files}
    assert {name: texts for name, texts in found.items() if texts} == {}


def test_the_example_runbook_names_its_schema() -> None:
    first = example("mine").splitlines()[0]
    assert first == "# yaml-language-server: $schema=runbook.schema.json"
    assert errors("runbook", yaml.safe_load(example("mine"))) == []


def test_every_schema_has_an_identity_of_its_own() -> None:
    kept = [json.loads(path.read_text("utf-8"))["$id"] for path in (ROOT / "docs" / "schemas").glob("*.json")]
    assert len(kept) == len(set(kept)) == len(SHAPES) + len(FILE_SCHEMAS)
    assert schema_of("rules")["$id"] == "urn:eosctl:schema:rules:1"
