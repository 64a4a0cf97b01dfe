"""The search for dead code finds a planted function, and counts what is found by name as used."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("vulture")

from scripts import dead_code


def test_a_function_that_nothing_uses_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dead_code, "ROOT", tmp_path)
    monkeypatch.setattr(dead_code, "SEARCHED", ("eosctl",))
    (tmp_path / "eosctl").mkdir()
    (tmp_path / "eosctl" / "planted.py").write_text(
        "def used():\n    pass\n\n\ndef forgotten():\n    used()\n", "utf-8"
    )
    assert dead_code.unused() == {"forgotten": "eosctl/planted.py:5: unused function forgotten"}


def test_functions_of_commands_count_as_used() -> None:
    named = set(dead_code.command_functions(dead_code.COMMANDS))
    assert {"verify_run", "inject_fault", "start"} <= named


def test_every_allowed_name_has_a_reason() -> None:
    assert all(reason.strip() for reason in dead_code.ALLOWED.values())
