import json
import os
import pwd
import socket
import stat

import pytest

from eosctl.actions.audit import AuditLog, write_audit
from eosctl.collect.audit_file import audit_file
from eosctl.errors import EosctlError, PlanRefused


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


def test_an_entry_is_recorded_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "audit.jsonl"
    write_audit(path, 0, "first", "c", {})
    before, write = path.read_bytes(), os.write
    with monkeypatch.context() as full_disk:
        full_disk.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:7]))
        with pytest.raises(EosctlError, match="No space left"):
            write_audit(path, 0, "second", "c", {})
    assert path.read_bytes() == before
    write_audit(path, 0, "third", "c", {})
    assert [json.loads(line)["action"] for line in path.read_text().splitlines()] == ["first", "third"]


def test_a_pipe_without_reader_does_not_block(tmp_path):
    os.mkfifo(tmp_path / "audit.jsonl")
    with pytest.raises(EosctlError, match="Cannot write the audit file"):
        write_audit(tmp_path / "audit.jsonl", 0, "x", "c", {})


def test_the_file_lies_in_the_state_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert audit_file() == tmp_path / "eosctl" / "audit.jsonl"


def test_lines_identify_the_user_and_the_host(tmp_path, monkeypatch):
    monkeypatch.setenv("USER", "somebody-else")
    monkeypatch.setenv("SUDO_USER", "alice")
    path = tmp_path / "audit.jsonl"
    write_audit(path, 0, "txn abort planned", "c", {})
    line = json.loads(path.read_text())
    assert line["uid"] == os.getuid()
    assert line["user"] == pwd.getpwuid(os.getuid()).pw_name
    assert (line["sudo_user"], line["host"]) == ("alice", socket.gethostname())


def test_refused_attempts_are_recorded(tmp_path):
    path = tmp_path / "audit.jsonl"
    refusal = PlanRefused("orders-2 does not hang.", "Its producer is alive.", "Wait.")
    AuditLog(path, lambda: 5, "txn abort").refuse("c", "orders-2", refusal)
    line = json.loads(path.read_text())
    assert (line["action"], line["cluster"], line["time_ms"]) == ("txn abort refused", "c", 5)
    assert line["details"] == {
        "target": "orders-2",
        "error": "orders-2 does not hang.",
        "why": "Its producer is alive.",
    }
