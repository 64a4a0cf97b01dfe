"""The example on the page of the Python API does what the page shows."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import eosctl.services
from eosctl.collect.bundles.snapshot_file import save_snapshot
from scripts.api_page import EXAMPLE, MODULES, OUTPUT, render_api
from tests.checks.cases import build
from tests.findings.test_grouping import without_broker_3

pytestmark = pytest.mark.usefixtures("own_home")


def test_the_example_prints_what_the_page_shows(tmp_path: Path) -> None:
    save_snapshot(without_broker_3(build({})), tmp_path / "snapshot.json")
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "orders.properties").write_text(
        "application.id=orders\nprocessing.guarantee=exactly_once_v2\ncommit.interval.ms=30000\n", "utf-8"
    )
    done = subprocess.run([sys.executable, EXAMPLE], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == OUTPUT.read_text("utf-8")
    assert "EOS-CFG-001" in done.stdout


def test_every_service_is_on_the_page() -> None:
    assert {module.name for module in pkgutil.iter_modules(eosctl.services.__path__)} == set(MODULES)
    page = render_api()
    for name in MODULES:
        module = importlib.import_module(f"eosctl.services.{name}")
        assert module.__doc__ is not None
        assert f"## {module.__name__}\n\n{module.__doc__.strip().splitlines()[0]}" in page
