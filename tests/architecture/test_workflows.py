"""The action, the hooks, and the workflows follow the schemas of their platforms, and publish without a token."""

from __future__ import annotations

import json
import os
import re
import subprocess
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema.validators import validator_for

WORKFLOWS = ".github/workflows"
#: Files, and the schemas for them in check-jsonschema, which brings those of the platforms with it.
CHECKED = {
    "action.yml": "github-actions",
    f"{WORKFLOWS}/release.yml": "github-workflows",
}


def errors(name: str, document: Any) -> list[str]:
    file = resources.files("check_jsonschema.builtin_schemas.vendor") / f"{name}.json"
    schema = json.loads(file.read_text("utf-8"))
    return [error.message for error in validator_for(schema)(schema).iter_errors(document)]


def load(path: Path) -> Any:
    """Return a document; `on` is a word here, not YAML 1.1's true."""
    found = yaml.safe_load(path.read_text("utf-8"))
    return {"on" if key is True else key: value for key, value in found.items()}


@pytest.mark.parametrize("name", CHECKED)
def test_files_follow_the_schema_of_their_platform(name: str, project_root: Path) -> None:
    assert errors(CHECKED[name], load(project_root / name)) == []


def test_a_planted_mistake_is_seen(project_root: Path) -> None:
    planted = load(project_root / WORKFLOWS / "release.yml")
    planted["jobs"]["build"]["runs_on"] = planted["jobs"]["build"].pop("runs-on")
    assert errors("github-workflows", planted) != []


def test_every_workflow_is_checked_and_pins_what_it_uses(project_root: Path) -> None:
    files = sorted((project_root / WORKFLOWS).iterdir())
    assert [f"{WORKFLOWS}/{path.name}" for path in files] == [name for name in CHECKED if name.startswith(WORKFLOWS)]
    for path in (*files, project_root / "action.yml"):
        used = re.findall(r"uses: (\S+)", path.read_text("utf-8"))
        assert [one for one in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", one)] == []


def test_publishing_has_the_right_to_identify_itself_alone(project_root: Path) -> None:
    release = load(project_root / WORKFLOWS / "release.yml")
    assert release["permissions"] == {}
    assert release["jobs"]["publish"]["permissions"] == {"id-token": "write"}
    assert release["jobs"]["publish"]["environment"] == "pypi"
    assert release["jobs"]["attach"]["permissions"] == {"contents": "write"}
    assert "publish" in release["jobs"]["attach"]["needs"]
    text = (project_root / WORKFLOWS / "release.yml").read_text("utf-8")
    assert not re.search(r"secrets\.|password|token:", text.replace("id-token:", ""))
    # An expression in a script would run text that the author of a tag has written.
    scripts = [step.get("run", "") for job in release["jobs"].values() for step in job["steps"]]
    assert not any("${{" in script for script in scripts)


def test_a_module_of_the_judged_repository_does_not_run(project_root: Path, tmp_path: Path) -> None:
    for name in ("pip.py", "eosctl.py", "logging.py"):
        (tmp_path / name).write_text("print('OWNED')\n")
    steps = load(project_root / "action.yml")["runs"]["steps"]
    (script,) = [step["run"] for step in steps if step["name"] == "Install eosctl"]
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "VERSION": "--help"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "OWNED" not in done.stdout
    assert "pip install" in done.stdout
