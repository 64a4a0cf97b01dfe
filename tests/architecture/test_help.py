"""The help of eosctl and of its groups stays light: it loads none of what only single commands need."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from eosctl.commands.registry import COMMANDS
from tests.architecture.conftest import append_to_module

HEAVY = ("rich", "confluent_kafka", "yaml", "jmxquery", "pyspark", "pyarrow", "pandas", "eosctl.sandbox")
ALWAYS = {"registry"}
GROUPS = [*(one.name for one in COMMANDS if one.place == f"{one.name}:COMMANDS"), "group offsets"]

HELP = """
import json, sys
sys.argv = ["eosctl", *sys.argv[1:], "--help"]
from eosctl.cli import main
try:
    code = main()
except SystemExit as exit:
    code = exit.code
print(json.dumps([code, sorted(sys.modules)]))
"""


def help_modules(directory: Path, *words: str) -> set[str]:
    """Return the modules that are loaded when the eosctl in this directory has printed its help or that of a group."""
    command = [sys.executable, "-c", HELP, *words]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    code, modules = json.loads(done.stdout.splitlines()[-1])
    assert code in (0, None)
    assert f"Usage: {' '.join(('eosctl', *words))} " in done.stdout
    return set(modules)


def commands_in(modules: set[str]) -> set[str]:
    return {module.removeprefix("eosctl.commands.") for module in modules if module.startswith("eosctl.commands.")}


def heavy(modules: set[str]) -> list[str]:
    return [name for name in HEAVY if any(module == name or module.startswith(f"{name}.") for module in modules)]


def test_help_loads_nothing_heavy_and_no_command(project_root: Path) -> None:
    modules = help_modules(project_root)
    assert heavy(modules) == []
    assert commands_in(modules) == ALWAYS


@pytest.mark.parametrize("words", GROUPS)
def test_the_help_of_a_group_loads_nothing_but_its_table(words: str, project_root: Path) -> None:
    modules = help_modules(project_root, *words.split())
    assert heavy(modules) == []
    assert commands_in(modules) == ALWAYS | {words.split()[0]}


def test_most_commands_are_in_groups() -> None:
    assert len(GROUPS) > 10


def test_a_planted_import_in_a_group_is_seen(tmp_path: Path) -> None:
    append_to_module(tmp_path, "eosctl/commands/txn/__init__.py", "import eosctl.commands.txn.list")
    assert "txn.list" in commands_in(help_modules(tmp_path, "txn"))


@pytest.mark.parametrize("planted", ["yaml", "confluent_kafka", "eosctl.sandbox"])
def test_a_planted_import_is_seen(planted: str, tmp_path: Path) -> None:
    append_to_module(tmp_path, "eosctl/cli.py", f"import {planted}")
    assert heavy(help_modules(tmp_path)) == [planted]
