"""The import contracts hold, and each of them refuses the violations planted in a copy of the project."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from eosctl.commands.registry import COMMANDS
from tests.architecture.conftest import copy_sources

LINT = (sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()")


class Planted(NamedTuple):
    """A module with one import that a contract must refuse."""

    contract: str
    module: str
    imported: str


PLANTED = (
    Planted("order", "eosctl.model.planted", "eosctl.wire.errors"),
    Planted("order", "eosctl.wire.planted", "eosctl.storage.log"),
    Planted("order", "eosctl.storage.planted", "eosctl.settings"),
    Planted("order", "eosctl.knowledge.planted", "eosctl.settings"),
    Planted("order", "eosctl.findings.planted", "eosctl.checks"),
    Planted("order", "eosctl.model.planted_too", "eosctl.findings"),
    Planted("order", "eosctl.client.planted", "eosctl.collect"),
    Planted("order", "eosctl.lab.planted", "eosctl.render"),
    Planted("order", "eosctl.errors", "eosctl.model"),
    Planted("order", "eosctl.services.planted", "eosctl.render"),
    Planted("order", "eosctl.services.planted_too", "eosctl.commands"),
    Planted("order", "eosctl.render.planted", "eosctl.services"),
    Planted("order", "eosctl.runbooks.planted", "eosctl.services"),
    Planted("order", "eosctl.command_line.planted_too", "eosctl.commands.emit"),
    Planted("lab-order", "eosctl.lab.history.planted", "eosctl.lab.trial"),
    Planted("lab-order", "eosctl.lab.scenarios.planted", "eosctl.lab.verify"),
    Planted("layers-of-incidents", "eosctl.logs.incidents.timeline.planted", "eosctl.logs.incidents.judge"),
    Planted("layers-of-incidents", "eosctl.logs.incidents.servers.planted", "eosctl.logs.incidents.joining.kills"),
    Planted("layers-of-settings", "eosctl.settings.formats.planted", "eosctl.settings.platforms.workloads"),
    Planted("layers-of-settings", "eosctl.settings.values.planted", "eosctl.settings.clusters.profiles"),
    Planted("pure-packages", "eosctl.analysis.planted", "socket"),
    Planted("pure-packages", "eosctl.checks.planted", "time"),
    Planted("pure-packages", "eosctl.capacity.planted", "os"),
    Planted("pure-packages", "eosctl.findings.planted", "os"),
    Planted("pure-packages", "eosctl.lab.history.planted", "asyncio"),
    Planted("pure-packages", "eosctl.analysis.planted_too", "confluent_kafka"),
    Planted("typer-in-commands", "eosctl.render.planted", "typer"),
    Planted("typer-in-commands", "eosctl.services.planted", "typer"),
    Planted("rich-in-render", "eosctl.services.planted", "rich"),
    Planted("rich-in-render", "eosctl.commands.planted", "rich"),
    Planted("sandbox-is-a-server", "eosctl.sandbox.planted", "eosctl.client"),
    Planted("sandbox-is-a-server", "eosctl.sandbox.planted_too", "eosctl.checks"),
    Planted("judges-know-no-sandbox", "eosctl.collect.planted", "eosctl.sandbox"),
    Planted("judges-know-no-sandbox", "eosctl.analysis.planted", "eosctl.sandbox"),
    Planted("spark-needs-little", "spark_log_analytics.planted", "eosctl.client"),
    Planted("spark-is-optional", "eosctl.commands.planted", "spark_log_analytics"),
    Planted("spark-is-optional", "eosctl.collect.planted", "spark_log_analytics"),
    Planted("spark-is-optional", "eosctl.render.planted", "spark_log_analytics"),
    Planted("thin-commands", "eosctl.commands.planted", "eosctl.analysis.hanging"),
    Planted("thin-commands", "eosctl.commands.txn.planted", "eosctl.collect"),
    Planted("order", "eosctl.services.planted_three", "eosctl.servers.tools"),
    Planted("thin-servers", "eosctl.servers.planted", "eosctl.analysis.hanging"),
    Planted("servers-only-read", "eosctl.servers.planted_too", "eosctl.services.runbooks"),
    Planted("servers-only-read", "eosctl.servers.planted_three", "eosctl.services.change_transaction"),
    Planted("command-line-fits-any-program", "eosctl.command_line.planted", "eosctl.services.callbacks"),
    Planted("render-shows", "eosctl.render.planted_too", "eosctl.checks.registry"),
    Planted("render-shows", "eosctl.render.decode.planted", "eosctl.analysis.hanging"),
    Planted("render-shows", "eosctl.render.transactions.planted", "eosctl.wire.errors"),
    Planted("independent-commands", "eosctl.commands.txn.planted_too", "eosctl.commands.group.offsets"),
)


def lint(directory: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter on the packages of a directory."""
    return subprocess.run(
        [*LINT, "--no-cache", "--config", "pyproject.toml"],
        cwd=directory,
        env=os.environ | {"PYTHONPATH": str(directory), "COLUMNS": "200", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def plant(directory: Path, planted: Planted) -> None:
    path = directory.joinpath(*planted.module.split(".")).with_suffix(".py")
    before = path.read_text("utf-8") if path.exists() else '"""Planted."""\n'
    path.write_text(f"{before}\nimport {planted.imported}\n", "utf-8")


def contracts(root: Path) -> dict[str, dict[str, Any]]:
    configuration = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    return {contract["id"]: contract for contract in configuration["tool"]["importlinter"]["contracts"]}


@pytest.fixture(scope="module")
def refusals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What import-linter prints about each broken contract of a copy with every violation, by the contract's name."""
    copy = copy_sources(tmp_path_factory.mktemp("planted"))
    for planted in PLANTED:
        plant(copy, planted)
    (copy / "eosctl" / "attic").mkdir()
    (copy / "eosctl" / "attic" / "__init__.py").write_text('"""Planted."""\n', "utf-8")
    done = lint(copy)
    assert done.returncode == 1, done.stdout + done.stderr
    _, found, broken = done.stdout.partition("Broken contracts\n")
    assert found, done.stdout + done.stderr
    parts = re.split(r"^(.+)\n-+\n", broken, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.quick
def test_the_project_keeps_its_contracts(project_root: Path) -> None:
    done = lint(project_root)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_contract_has_a_planted_violation(project_root: Path) -> None:
    assert {planted.contract for planted in PLANTED} == contracts(project_root).keys()


def test_top_level_commands_are_independent_of_each_other(project_root: Path) -> None:
    modules = {f"eosctl.commands.{entry.place.partition(':')[0].partition('.')[0]}" for entry in COMMANDS}
    assert set(contracts(project_root)["independent-commands"]["modules"]) == modules


@pytest.mark.parametrize("contract", sorted({planted.contract for planted in PLANTED}))
def test_planted_violations_are_refused(contract: str, refusals: dict[str, str], project_root: Path) -> None:
    refused = refusals[contracts(project_root)[contract]["name"]]
    imports = [f"{planted.module} -> {planted.imported} (l." for planted in PLANTED if planted.contract == contract]
    assert [one for one in imports if one not in refused] == [], refused


def test_a_package_without_a_place_in_the_order_is_refused(refusals: dict[str, str], project_root: Path) -> None:
    assert "attic" in refusals[contracts(project_root)["order"]["name"]]
