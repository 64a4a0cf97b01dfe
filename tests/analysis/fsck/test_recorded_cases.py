"""Every recorded data directory: what was damaged is found, with its place; what is healthy raises no alarm."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eosctl.analysis.fsck.data_set import DataSetCheck
from eosctl.findings.fsck.consequences import CONSEQUENCES
from eosctl.model.fsck import FsckFinding, FsckSeverity
from eosctl.storage.survey import survey_data_dir, survey_partition
from tests.storage.cases import FIXTURES

CASES = sorted(path.parent for path in FIXTURES.glob("*/expected-findings.json"))
FIELDS = {
    "producerId": "producer_id",
    "producerEpoch": "producer_epoch",
    "transactionalId": "transactional_id",
    "invalidBytes": "invalid_bytes",
}
#: A damaged log makes these files of its partition disagree with it; the fixtures' README allows that.
FOLLOWERS = (".index", ".timeindex", ".txnindex", ".snapshot", "checkpoint")


def check(*directories: Path) -> list[FsckFinding]:
    data_set = DataSetCheck()
    found = [
        finding
        for directory in directories
        for finding in data_set.check_directory(survey_data_dir(directory), survey_partition)
    ]
    return [*found, *data_set.check_together()]


def meets(finding: FsckFinding, wanted: dict[str, Any]) -> bool:
    if finding.kind not in (wanted["kind"], *wanted.get("alsoAcceptable", ())):
        return False
    compared = wanted.keys() - {"kind", "message", "secondary", "alsoAcceptable"}
    return all(getattr(finding, FIELDS.get(name, name)) == wanted[name] for name in compared)


def follows_from(finding: FsckFinding, expected: list[dict[str, Any]]) -> bool:
    damaged_logs = {wanted["file"].split("/")[0] for wanted in expected if wanted.get("file", "").endswith(".log")}
    return finding.partition in damaged_logs and finding.file.endswith(FOLLOWERS)


def test_all_recorded_cases_are_here() -> None:
    assert len(CASES) == 71


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_findings(case: Path) -> None:
    expected = json.loads((case / "expected-findings.json").read_text("utf-8"))
    left = check(*sorted(case.glob("data*")))
    for wanted in expected:
        match = next((finding for finding in left if meets(finding, wanted)), None)
        if match is None:
            assert wanted.get("secondary"), (wanted, left)
        else:
            left.remove(match)
    alarms = [f for f in left if f.severity is not FsckSeverity.INFO and not follows_from(f, expected)]
    assert alarms == []


def test_every_kind_has_its_consequences() -> None:
    kinds = {finding.kind for case in CASES for finding in check(*sorted(case.glob("data*")))}
    assert len(kinds) > 30
    assert kinds <= CONSEQUENCES.keys()
