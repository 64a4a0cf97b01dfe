"""Checks are found in the modules that define them, in folders and zip files; one that cannot be loaded is refused."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

import eosctl.checks
from eosctl.checks.declaration import Check
from eosctl.checks.discovery import discover_checks
from eosctl.checks.registry import ALL_CHECKS, CATALOG, CONFIGURATION_CHECKS

Plant = Callable[[dict[str, str]], ModuleType]
ROOT = Path(__file__).parents[2]
DECLARATION = '''
from eosctl.checks.declaration import Area, check
from eosctl.model.severity import Severity

@check("{id}", "Planted", Area.BROKER, Severity.ERROR)
def {name}(case):
    """Find nothing."""
    yield from ()
'''


def declared(id: str, name: str) -> str:
    return DECLARATION.format(id=id, name=name)


@pytest.fixture
def plant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Plant]:
    """Import a package ``planted`` with these files, and forget it afterwards."""

    def write(files: dict[str, str]) -> ModuleType:
        for name, text in {"__init__.py": "", **files}.items():
            path = tmp_path / "planted" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        return importlib.import_module("planted")

    yield write
    for name in [name for name in sys.modules if name.partition(".")[0] == "planted"]:
        del sys.modules[name]


def test_a_planted_check_is_found_at_any_depth(plant: Plant) -> None:
    files = {
        "broker/__init__.py": "",
        "broker/slow.py": declared("EOS-BRK-902", "slow"),
        "files/__init__.py": "",
        "files/streams/__init__.py": "",
        "files/streams/fast.py": declared("EOS-BRK-901", "fast"),
    }
    assert [check.id for check in discover_checks(plant(files))] == ["EOS-BRK-901", "EOS-BRK-902"]


def test_a_check_that_another_module_imports_counts_once(plant: Plant) -> None:
    files = {
        "broker/__init__.py": "",
        "broker/slow.py": declared("EOS-BRK-902", "slow"),
        "broker/neighbor.py": "from planted.broker.slow import slow\n",
    }
    assert [check.id for check in discover_checks(plant(files))] == ["EOS-BRK-902"]


def test_an_id_that_is_used_twice_is_refused(plant: Plant) -> None:
    files = {
        "broker/__init__.py": "",
        "broker/one.py": declared("EOS-BRK-901", "one"),
        "broker/two.py": declared("EOS-BRK-901", "two"),
    }
    with pytest.raises(ValueError, match=r"EOS-BRK-901 is used in planted\.broker\.one and planted\.broker\.two"):
        discover_checks(plant(files))


def test_a_name_that_is_used_twice_is_refused(plant: Plant) -> None:
    files = {
        "broker/__init__.py": "",
        "broker/slow.py": declared("EOS-BRK-901", "slow"),
        "topic/__init__.py": "",
        "topic/slow.py": declared("EOS-BRK-902", "slow"),
    }
    with pytest.raises(ValueError, match=r"name slow is used in planted\.broker\.slow and planted\.topic\.slow"):
        discover_checks(plant(files))


@pytest.mark.parametrize("broken", ["broker/bad.py", "broker/bad/__init__.py", "broker/__init__.py"])
def test_a_module_that_cannot_be_imported_is_not_passed_over(plant: Plant, broken: str) -> None:
    files = {"broker/__init__.py": "", "broker/good.py": declared("EOS-BRK-901", "good")}
    with pytest.raises(ImportError):
        discover_checks(plant(files | {broken: "import there_is_no_such_module\n"}))


def test_checks_are_found_in_a_zip_file(plant: Plant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "planted.zip"
    with zipfile.ZipFile(archive, "w") as zipped:
        zipped.writestr("planted/__init__.py", "")
        zipped.writestr("planted/broker/__init__.py", "")
        zipped.writestr("planted/broker/slow.py", declared("EOS-BRK-902", "slow"))
    monkeypatch.syspath_prepend(archive)
    package = importlib.import_module("planted")
    assert package.__file__ is not None
    assert "planted.zip" in package.__file__
    assert [check.id for check in discover_checks(package)] == ["EOS-BRK-902"]


def test_every_declaration_in_the_source_is_in_the_catalog() -> None:
    texts = (path.read_text("utf-8") for path in (ROOT / "eosctl" / "checks").rglob("*.py"))
    assert sum(text.count("\n@check(\n") for text in texts) == len(CATALOG)
    assert {*ALL_CHECKS, *CONFIGURATION_CHECKS} == set(CATALOG)
    assert not set(ALL_CHECKS) & set(CONFIGURATION_CHECKS)


def test_modules_that_run_checks_define_none() -> None:
    for info in pkgutil.iter_modules(eosctl.checks.__path__, "eosctl.checks."):
        if not info.ispkg:
            module = importlib.import_module(info.name)
            defined = [one for one in vars(module).values() if isinstance(one, Check)]
            assert [one.id for one in defined if one.evaluate.__module__ == info.name] == []
