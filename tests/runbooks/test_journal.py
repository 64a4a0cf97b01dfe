"""A journal that was changed at any position is refused."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from eosctl.errors import ConfigFileError, EosctlError, UsageError
from eosctl.runbooks.journal import Journal, journal_path, list_runs, read_journal
from eosctl.runbooks.load import find_runbook
from eosctl.runbooks.position import position_of
from tests.commands.conftest import eosctl


def write(path: Path) -> bytes:
    clock = itertools.count(1_790_000_000_000)
    journal = Journal(path, lambda: next(clock))
    journal.write("started", runbook="min-isr-lost", digest="0", cluster_id="c", inputs={}, user="me")
    journal.write("begun", "brokers", type="probe")
    journal.write("facts", "brokers", facts={"silent": 1, "silent_ids": "2"})
    journal.write("ended", "bring_back", outcome="manual", message="Start it.", next="returned")
    return path.read_bytes()


def test_every_changed_byte_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    whole = write(path)
    assert [entry.event for entry in read_journal(path)] == ["started", "begun", "facts", "ended"]
    for position in range(len(whole)):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        with pytest.raises(ConfigFileError):
            read_journal(path)


def test_lines_that_are_taken_out_moved_or_cut_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    lines = write(path).splitlines(keepends=True)
    changed = [lines[1:], [*lines[:1], *lines[2:]], [lines[0], lines[2], lines[1], lines[3]], [*lines, lines[3]]]
    for some in [*changed, [*lines[:3], lines[3][:-10]], [b""], [b"\n"], [b"[" * 100_000 + b"\n"], [b"\xff\n"]]:
        path.write_bytes(b"".join(some))
        with pytest.raises(ConfigFileError):
            read_journal(path)


def test_a_run_continues_at_its_manual_step(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    write(path)
    book = find_runbook("min-isr-lost").book
    position = position_of(book, read_journal(path))
    assert (position.at, position.acted) == ("returned", False)
    assert position.known["brokers"]["silent_ids"] == "2"


def test_a_journal_is_not_overwritten_or_written_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    write(path)
    with pytest.raises(EosctlError, match="Cannot write the journal"):
        write(path)
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    with pytest.raises(EosctlError, match="Cannot write the journal"):
        write(in_the_way / "run.jsonl")


@pytest.mark.parametrize("name", ["", "../audit", "a/b", "a.b", "a\0"])
def test_only_names_of_runs_are_runs(name: str) -> None:
    with pytest.raises(UsageError, match="is not a run"):
        journal_path(name)


def test_what_does_not_exist_is_said() -> None:
    assert list_runs() == ()
    done = eosctl("runbook", "journal", "1-nothing")
    assert (done.code, done.out) == (2, "")
    assert "no journal 1-nothing" in done.err
    resumed = eosctl("runbook", "run", "min-isr-lost", "-b", "127.0.0.1:1", "--resume", "1-nothing", "--yes")
    assert resumed.code == 2
    dry = eosctl("runbook", "run", "min-isr-lost", "-b", "127.0.0.1:1", "--resume", "1-nothing")
    assert "needs --yes" in dry.err
    assert eosctl("runbook", "run", "nothing", "-b", "127.0.0.1:1").code == 2
    assert eosctl("runbook", "run", "min-isr-lost", "-b", "127.0.0.1:1").code == 1
    wrong = eosctl("runbook", "run", "rolling-restart", "-b", "127.0.0.1:1", "-i", "broker=two")
    assert (wrong.code, "not a number" in wrong.err) == (2, True)
    unknown = eosctl("runbook", "run", "rolling-restart", "-b", "127.0.0.1:1", "-i", "brokre=2")
    assert (unknown.code, "Its inputs: broker" in unknown.err) == (2, True)
