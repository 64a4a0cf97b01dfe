"""Which fences the audit file proves, from the lines that eosctl itself writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import asdict

from eosctl.actions.audit import write_audit
from eosctl.collect.audit_file import LAST_BYTES, identify_fence, read_own_fences
from eosctl.model.plan import FenceOutcome, FencePlan
from eosctl.model.transaction import TransactionState
from tests.analysis.scenes import transaction


def outcome(transactional_id: str = "shop", **fields: Any) -> FenceOutcome:
    before = transaction(transactional_id=transactional_id, **{"state": "Ongoing", "producer_id": 7, **fields})
    return FenceOutcome(FencePlan("c", before, 60_000, "", ""), 7, 3, True, "")


def test_a_fence_is_read_as_it_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUDO_USER", raising=False)
    path = tmp_path / "audit.jsonl"
    write_audit(path, 1_000, "txn fence begun", "c", outcome().plan)
    write_audit(path, 2_000, "txn fence done", "c", outcome())
    line = json.loads(path.read_text().splitlines()[-1])
    (fence,) = read_own_fences(path, "c")
    assert (fence.at_ms, fence.command, fence.who) == (2_000, "eosctl txn fence", f"{line['user']} on {line['host']}")
    assert (fence.transactional_id, fence.fenced_producer_id, fence.successor_epoch) == ("shop", 7, 3)
    assert fence.found_open
    assert read_own_fences(path, "another") == ()


def test_the_fence_of_a_runbook_names_the_runbook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUDO_USER", "alice")
    path = tmp_path / "audit.jsonl"
    found = identify_fence(outcome(state=TransactionState.COMPLETE_COMMIT))
    write_audit(path, 5, "runbook txn.fence done", "c", {"runbook": "zombies", "step": "fence", **asdict(found)})
    (fence,) = read_own_fences(path, "c")
    assert fence.command == "eosctl runbook run zombies"
    assert fence.who.startswith("alice (as ")
    assert not fence.found_open


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"time_ms":1,"action":"txn fence done","cluster":"c","details":{}}',
        b'{"time_ms":1,"action":"txn fence refused","cluster":"c","details":{"target":"shop"}}',
        b'{"time_ms":1,"action":"runbook txn.fence done","cluster":"c","details":{"runbook":"zombies"}}',
        b'{"time_ms":"1","action":"txn fence done","cluster":"c","details":7}',
    ],
)
def test_other_lines_count_as_nothing(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    write_audit(path, 1, "txn fence done", "c", outcome("first"))
    with path.open("ab") as file:
        file.write(line + b"\n")
    write_audit(path, 2, "txn fence done", "c", outcome("second"))
    assert [fence.transactional_id for fence in read_own_fences(path, "c")] == ["first", "second"]


def test_the_end_of_a_long_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    write_audit(path, 1, "txn fence done", "c", outcome("forgotten"))
    with path.open("ab") as file:
        file.write(b"x" * LAST_BYTES + b"\n")
    write_audit(path, 2, "txn fence done", "c", outcome("kept"))
    assert [fence.transactional_id for fence in read_own_fences(path, "c")] == ["kept"]


def test_without_a_file_there_are_no_fences(tmp_path: Path) -> None:
    assert read_own_fences(tmp_path / "audit.jsonl", "c") == ()
    with pytest.raises(OSError, match="directory"):
        read_own_fences(tmp_path, "c")
