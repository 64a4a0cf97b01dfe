"""A program or person that reads only the beginning of a result sees that evidence was missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eosctl.collect.bundles.snapshot_file import load_snapshot, save_snapshot
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.render.formats import FindingFormat
from tests.commands.conftest import eosctl

SAMPLE = Path(__file__).parents[3] / "examples" / "hanging.json.gz"
COMMANDS = (("doctor",), ("check", "run"))
#: Formats whose beginning has a place of its own for it.
STRUCTURED = {FindingFormat.JSON, FindingFormat.YAML, FindingFormat.SARIF, FindingFormat.JUNIT, FindingFormat.HTML}
BEGINNING = [one for one in FindingFormat if one not in STRUCTURED and one is not FindingFormat.PROMETHEUS]


@pytest.fixture
def incomplete(tmp_path: Path) -> Path:
    sample = load_snapshot(SAMPLE)
    gap = EvidenceGap(EvidenceKind.GROUPS, "payments", GapReason.TIMED_OUT, detail="no answer")
    path = tmp_path / "incomplete.json"
    fields = {name: getattr(sample, name) for name in sample.__struct_fields__}
    save_snapshot(type(sample)(**fields | {"gaps": (gap,)}), path)
    return path


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("output", BEGINNING)
def test_the_beginning_shows_it(command: tuple[str, ...], output: FindingFormat, incomplete: Path) -> None:
    whole = eosctl(*command, "--snapshot", SAMPLE, "-o", output)
    part = eosctl(*command, "--snapshot", incomplete, "-o", output)
    first = 1 if output is FindingFormat.CSV else 0  # Behind the names of the columns
    assert "incomplete" in part.out.splitlines()[first]
    assert "incomplete" not in whole.out.splitlines()[first]


@pytest.mark.parametrize("command", COMMANDS)
def test_structured_results_have_a_field(command: tuple[str, ...], incomplete: Path) -> None:
    part = eosctl(*command, "--snapshot", incomplete, "-o", "json").json
    assert part["evidence"]["complete"] is False
    assert "incomplete" in part["summary"][0]
    assert "incomplete" in eosctl(*command, "--snapshot", incomplete, "-o", "html").out
    sarif = json.dumps(eosctl(*command, "--snapshot", incomplete, "-o", "sarif").json)
    assert '"complete": false' in sarif or "incomplete" in sarif


def test_rows_without_findings_are_not_empty(incomplete: Path) -> None:
    done = eosctl("check", "run", "EOS-GRP-001", "--snapshot", incomplete, "-o", "tsv")
    assert done.rows[0][0] == "incomplete"
