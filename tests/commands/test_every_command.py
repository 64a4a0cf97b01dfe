"""No command passes on what a terminal, a table, a page, or a link acts on, in any format; new ones are covered."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.conftest import Captured, eosctl
from tests.commands.every_command import PAYLOAD, RUNNING, Leaf, hostile_files, leaves, runs
from tests.commands.inert import acted_on, commands_in, hidden_in

LEAVES = leaves()
HOMES = ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "XDG_DATA_HOME")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return hostile_files(tmp_path_factory.mktemp("hostile") / "files")


@pytest.mark.parametrize("leaf", LEAVES, ids=lambda leaf: leaf.name)
def test_every_command_stays_text(
    leaf: Leaf, files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in HOMES:
        monkeypatch.setenv(name, str(tmp_path / "home"))
    for words, formats in runs(leaf, files):
        for form in formats:
            run = [*leaf.words, *(["-o", form] if form else []), *words]
            done = eosctl(*run)
            assert done.code in (0, 1, 2, 3, 4), (run, done)
            assert not hidden_in(done.err), (run, hidden_in(done.err))
            assert not commands_in(done.err), (run, done.err)
            assert "defect in eosctl" not in done.err, (run, done.err)
            # After an error standard output holds nothing, or the error as JSON.
            is_result = (done.code in (0, 3, 4) and form != "kafka") or form == "json"
            assert not (done.out and is_result and acted_on(done.out, form)), (run, acted_on(done.out, form))


def test_a_terminal_gets_no_control_character_of_records(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    partition = next(file for file in files if file.is_dir())
    as_kafka = eosctl("decode", "segment", "--records", "-o", "kafka", partition)
    assert PAYLOAD in as_kafka.out, "a file gets the bytes that Kafka's tool writes"
    monkeypatch.setattr(Captured, "isatty", lambda _: True)
    shown = eosctl("decode", "segment", "--records", "-o", "kafka", partition)
    assert "javascript" in shown.out
    assert not hidden_in(shown.out)


def test_the_commands_that_are_not_run_exist() -> None:
    assert {leaf.name for leaf in LEAVES} >= RUNNING
