"""The questions of `capacity init` on a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line.terminal import ask_and_type


@pytest.mark.parametrize(
    ("typed", "ended"), [(b"\x03", 130), (b"\x04", 2), (b"\n", 2)], ids=["ctrl-c", "ctrl-d", "enter"]
)
def test_a_question_without_an_answer_ends_the_command(typed: bytes, ended: int, tmp_path: Path) -> None:
    file = tmp_path / "workload.yaml"
    code, shown = ask_and_type(("-m", "eosctl", "capacity", "init", str(file)), b"short-lived): ", typed)
    assert (code, file.exists()) == (ended, False), shown
    assert "Aborted" not in shown
