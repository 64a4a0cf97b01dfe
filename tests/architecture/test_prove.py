"""A proof leaves a record that names its code, or is refused."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture
def prove(tmp_path: Path, project_root: Path) -> ModuleType:
    """scripts/prove.py in a repository of its own, with two short proofs."""
    script = tmp_path / "scripts" / "prove.py"
    script.parent.mkdir()
    shutil.copy(project_root / "scripts" / "prove.py", script)
    (tmp_path / ".gitignore").write_text("__pycache__/\n")
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Start"]):
        identity = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
        subprocess.run(["git", *identity, *command], cwd=tmp_path, check=True)
    spec = importlib.util.spec_from_file_location("planted_prove", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["planted_prove"] = module
    spec.loader.exec_module(module)
    module.PROOFS = {
        "holds": module.Proof("It holds.", (sys.executable, "-c", "import os; print(os.environ['N'])"), (("N", "7"),)),
        "fails": module.Proof("It fails.", (sys.executable, "-c", "print('why'); raise SystemExit(4)")),
    }
    return module


def record(prove: ModuleType, name: str) -> dict[str, object]:
    read: dict[str, object] = json.loads((prove.RECORDS / f"{name}.json").read_text("utf-8"))
    return read


def test_a_success_is_recorded_with_commit_and_command(prove: ModuleType) -> None:
    assert prove.main(["holds"]) == 0
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=prove.ROOT, capture_output=True, text=True, check=True)
    written = record(prove, "holds")
    assert written["commit"] == head.stdout.strip()
    assert written["command"] == "N=7 python -c 'import os; print(os.environ['\"'\"'N'\"'\"'])'"
    assert written["last_lines"] == ["7"]
    assert written["succeeded"] is True


def test_a_commit_made_meanwhile_is_not_the_one_that_ran(prove: ModuleType) -> None:
    head = prove.git("rev-parse", "HEAD")
    commit = ("git", "-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-q", "--allow-empty", "-m", "On")
    prove.PROOFS = {"moves": prove.Proof("It moves.", commit)}
    assert prove.main(["moves"]) == 0
    assert record(prove, "moves")["commit"] == head != prove.git("rev-parse", "HEAD")


def test_a_failure_is_recorded_too(prove: ModuleType) -> None:
    assert prove.main(["fails", "holds"]) == 1
    assert record(prove, "fails")["exit_code"] == 4
    assert record(prove, "fails")["last_lines"] == ["why"]
    assert record(prove, "holds")["succeeded"] is True


def test_a_changed_work_tree_and_an_unknown_name_are_refused(
    prove: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert prove.main(["unknown"]) == 2
    assert "There is no proof unknown. Known: holds, fails." in capsys.readouterr().err
    (prove.ROOT / "new.py").write_text("pass\n", "utf-8")
    assert prove.main(["holds"]) == 2
    assert "new.py" in capsys.readouterr().err
    assert not prove.RECORDS.exists()


def test_without_a_name_the_proofs_are_listed(prove: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert prove.main([]) == 0
    assert "It holds." in capsys.readouterr().out
