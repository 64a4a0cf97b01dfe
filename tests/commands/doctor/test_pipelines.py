"""What the workflow of the documentation and the pre-commit hooks run, run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml

from tests.commands.conftest import eosctl

ROOT = Path(__file__).parents[3]
BAD = "application.id=a\nprocessing.guarantee=exactly_once_v2\ncommit.interval.ms=30000\n"
GOOD = BAD.replace("30000", "100")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "deploy").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _steps() -> list[list[str]]:
    text = (ROOT / "docs" / "diagnose" / "doctor.md").read_text("utf-8")
    (block,) = [b for b in re.findall(r"```yaml\n(.*?)```", text, re.S) if "jobs:" in b]
    steps = yaml.safe_load(block)["jobs"]["eosctl"]["steps"]
    runs = [str(step["run"]).split(">")[0] for step in steps if "run" in step]
    return [shlex.split(run)[1:] for run in runs if run.startswith("eosctl ")]


def test_the_workflow_fails_for_findings_in_its_first_step_alone(project: Path) -> None:
    (project / "deploy" / "app.properties").write_text(BAD, "utf-8")
    assert [eosctl(*step).code for step in _steps()] == [3, 0, 0]
    (project / "deploy" / "app.properties").write_text(GOOD, "utf-8")
    assert [eosctl(*step).code for step in _steps()] == [0, 0, 0]


def test_its_annotations_stand_at_the_line(project: Path) -> None:
    (project / "deploy" / "app.properties").write_text(BAD, "utf-8")
    first, second, *_ = eosctl(*_steps()[0]).out.splitlines()
    assert first.startswith("::notice title=eosctl ")
    assert second.startswith("::error file=deploy/app.properties,line=3,title=EOS-CFG-001")


@pytest.mark.parametrize("hook", yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text()), ids=lambda h: h["id"])
def test_hooks_are_given_files_and_refuse_bad_ones(hook: dict[str, str], project: Path) -> None:
    path = project / "deploy" / "app.properties"
    assert re.search(hook["files"], str(path))
    entry = shlex.split(hook["entry"])[1:]
    path.write_text(BAD, "utf-8")
    assert eosctl(*entry, path).code == 3
    path.write_text(GOOD, "utf-8")
    assert eosctl(*entry, path).code == 0
