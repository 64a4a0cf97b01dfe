"""``eosctl --help`` stays light: it loads none of what only single commands need."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("confluent_kafka", "yaml", "jmxquery", "pyspark", "pyarrow", "pandas", "eosctl.sandbox")

HELP = """
import json, sys
sys.argv = ["eosctl", "--help"]
from eosctl.cli import main
try:
    code = main()
except SystemExit as exit:
    code = exit.code
print(json.dumps([code, sorted(sys.modules)]))
"""


def help_modules(directory: Path) -> set[str]:
    """Return the modules that are loaded when the help of the eosctl in this directory has been printed."""
    done = subprocess.run([sys.executable, "-c", HELP], cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    code, modules = json.loads(done.stdout.splitlines()[-1])
    assert code in (0, None)
    assert "Usage: eosctl" in done.stdout
    return set(modules)


def heavy(modules: set[str]) -> list[str]:
    return [name for name in HEAVY if any(module == name or module.startswith(f"{name}.") for module in modules)]


def test_help_loads_nothing_heavy_and_no_command(project_root: Path) -> None:
    modules = help_modules(project_root)
    assert heavy(modules) == []
    commands = {module.removeprefix("eosctl.commands.") for module in modules if module.startswith("eosctl.commands.")}
    assert commands == {"coercion", "invocation", "registry"}


@pytest.mark.parametrize("planted", ["yaml", "confluent_kafka", "eosctl.sandbox"])
def test_a_planted_import_is_seen(planted: str, source_copy: Path) -> None:
    cli = source_copy / "eosctl" / "cli.py"
    cli.write_text(cli.read_text("utf-8") + f"\nimport {planted}\n", "utf-8")
    assert heavy(help_modules(source_copy)) == [planted]
