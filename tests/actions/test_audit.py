import json
import stat

import pytest

from eosctl.actions.audit import audit_file, write_audit
from eosctl.errors import EosctlError


def test_lines_are_appended_for_the_owner_only(tmp_path):
    path = tmp_path / "state" / "audit.jsonl"
    write_audit(path, 1_000, "txn abort planned", "c", {"partition": "orders-0"})
    write_audit(path, 2_000, "txn abort done", "c", {"partition": "orders-0"})
    first, second = (json.loads(line) for line in path.read_text().splitlines())
    assert (first["time_ms"], first["action"], first["details"]) == (
        1_000,
        "txn abort planned",
        {"partition": "orders-0"},
    )
    assert second["action"] == "txn abort done"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_cannot_be_recorded_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(EosctlError, match="Cannot write the audit file"):
        write_audit(tmp_path / "file" / "audit.jsonl", 0, "x", "c", {})


def test_the_file_lies_in_the_state_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert audit_file() == tmp_path / "eosctl" / "audit.jsonl"
