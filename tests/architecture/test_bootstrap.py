"""scripts/bootstrap makes a whole environment or none, and says in words what the system lacks.

The project it makes is a tiny one with a build backend of its own, so that nothing is downloaded.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

REAL_PYTHON = getattr(sys, "_base_executable", sys.executable)
SITE = distribution("pip").locate_file("")
TOOLS = (
    "bash",
    "env",
    "dirname",
    "sha256sum",
    "sort",
    "grep",
    "cat",
    "tail",
    "paste",
    "mktemp",
    "rm",
    "mv",
    "chmod",
    "xargs",
    "sed",
)

PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "tiny"
version = "1"
"""

BACKEND = """
import os, zipfile
def build_editable(directory, config_settings=None, metadata_directory=None):
    if "TINY_WAITS" in os.environ:
        open(os.environ["TINY_WAITS"], "w").close()
        import signal; signal.pause()
    extras = "Provides-Extra: dev\\nProvides-Extra: more\\nProvides-Extra: broken\\n"
    extras += "Requires-Dist: absent-from-everywhere; extra == 'broken'\\n"
    files = {
        "tiny.py": "def main(): print('tiny runs')\\n",
        "tiny-1.dist-info/METADATA": f"Metadata-Version: 2.1\\nName: tiny\\nVersion: 1\\n{extras}",
        "tiny-1.dist-info/WHEEL": "Wheel-Version: 1.0\\nGenerator: tiny\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
        "tiny-1.dist-info/entry_points.txt": "[console_scripts]\\ntiny = tiny:main\\n",
        "tiny-1.dist-info/RECORD": "",
    }
    with zipfile.ZipFile(os.path.join(directory, "tiny-1-py3-none-any.whl"), "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
    return "tiny-1-py3-none-any.whl"
def build_wheel(directory, config_settings=None, metadata_directory=None):
    with open("built", "a") as file:
        file.write(os.environ.get("EOSCTL_COMPILED", "pure") + " ")
    return build_editable(directory)
"""

#: A Python that links the pip of this environment into a new one: to unpack and compile it takes five seconds.
QUICK_PYTHON = f"""
[ "$1$2" = "-mvenv" ] || exec "{REAL_PYTHON}" "$@"
"{REAL_PYTHON}" -m venv --without-pip "$3"
exec "{shutil.which("ln")}" -s "{SITE}"/pip "{SITE}"/pip-*.dist-info "$3"/lib/python3*/site-packages
"""

GENERATOR = """
import pathlib
pathlib.Path("codec").write_text(pathlib.Path("tables").read_text() if pathlib.Path("tables").exists() else "")
"""


@pytest.fixture
def tiny(tmp_path: Path, project_root: Path) -> Path:
    """A project with our scripts and nothing else."""
    project = tmp_path / "tiny project"  # a blank in the path is the first thing that breaks shell scripts
    (project / "scripts").mkdir(parents=True)
    for script in ("bootstrap", "install-system-packages"):
        shutil.copy(project_root / "scripts" / script, project / "scripts")
    (project / "scripts" / "generate_wire.py").write_text(GENERATOR, "utf-8")
    (project / "pyproject.toml").write_text(PYPROJECT, "utf-8")
    (project / "backend.py").write_text(BACKEND, "utf-8")
    program(tmp_path, "quick-python", QUICK_PYTHON)
    return project


@pytest.fixture
def bare_path(tmp_path: Path) -> Path:
    """A PATH with the few programs that the scripts need: no Python, no apt-get."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found is not None, tool
        (programs / tool).symlink_to(found)
    program(programs, "id", "echo 1000")
    return programs


def program(directory: Path, name: str, script: str) -> Path:
    path = directory / name
    path.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    path.chmod(0o755)
    return path


def bootstrap(project: Path, *extras: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PIP_", "COV", "PYTHON"))}
    return subprocess.run(
        [project / "scripts" / "bootstrap", *extras],
        env=clean | {"PYTHON": str(project.parent / "quick-python"), "PIP_NO_INDEX": "1"} | environment,
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )


def left_over(project: Path) -> list[str]:
    return [path.name for path in project.glob(".venv.*")]


def test_an_environment_is_remade_when_the_project_changes(tiny: Path) -> None:
    first = bootstrap(tiny, "dev")
    assert first.returncode == 0, first.stderr
    ran = subprocess.run([tiny / ".venv" / "bin" / "tiny"], capture_output=True, text=True, check=True)
    assert ran.stdout == "tiny runs\n"
    made = (tiny / ".venv").stat().st_ino

    again = bootstrap(tiny, "dev")
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
    assert bootstrap(tiny).returncode == 0  # fewer extras than there are
    assert (tiny / ".venv").stat().st_ino == made

    (tiny / "pyproject.toml").write_text(PYPROJECT + "description = 'changed'\n", "utf-8")
    assert bootstrap(tiny, "more").returncode == 0
    assert (tiny / ".venv").stat().st_ino != made
    stamp = (tiny / ".venv" / "bootstrap-stamp").read_text("utf-8").splitlines()
    assert stamp[1:] == ["dev", "more"]  # what was there before stays
    assert left_over(tiny) == []


def test_installed_extras_are_detected_in_any_notation(tiny: Path) -> None:
    assert bootstrap(tiny, "dev,more").returncode == 0  # as make names them
    made = (tiny / ".venv").stat().st_ino
    assert (tiny / ".venv" / "bootstrap-stamp").read_text("utf-8").splitlines()[1:] == ["dev", "more"]
    for named in (("more",), ("dev", "more"), ("more,dev",), ()):
        assert bootstrap(tiny, *named).returncode == 0
        assert (tiny / ".venv").stat().st_ino == made, named


def test_the_codec_is_regenerated_when_nothing_else_has_changed(tiny: Path) -> None:
    assert bootstrap(tiny).returncode == 0
    (tiny / "tables").write_text("api EndTxn 26", "utf-8")
    assert bootstrap(tiny).returncode == 0
    assert (tiny / "codec").read_text("utf-8") == "api EndTxn 26"
    (tiny / "scripts" / "generate_wire.py").write_text("raise SystemExit('line 3: no such type')", "utf-8")
    refused = bootstrap(tiny)
    assert (refused.returncode, refused.stderr) == (1, "line 3: no such type\n")


def test_a_compiled_copy_is_made_again_when_a_source_changes(tiny: Path) -> None:
    module = tiny / "eosctl" / "hot.py"
    module.parent.mkdir()
    module.write_text("a = 1", "utf-8")
    check = ("--compiled", "--check")
    missing = bootstrap(tiny, *check)
    assert (missing.returncode, missing.stdout, missing.stderr) == (1, "", "")
    made = bootstrap(tiny, "--compiled", "dev")
    assert made.returncode == 0, made.stderr
    assert (tiny / "built").read_text("utf-8") == "1 "
    assert not (tiny / ".venv").exists()
    assert bootstrap(tiny, *check).returncode == bootstrap(tiny, "--compiled").returncode == 0
    assert (tiny / "built").read_text("utf-8") == "1 "
    module.write_text("a = 2", "utf-8")
    assert bootstrap(tiny, *check).returncode == 1
    assert bootstrap(tiny, "--compiled").returncode == 0
    assert (tiny / "built").read_text("utf-8") == "1 1 "


def test_an_environment_of_another_python_is_remade(tiny: Path, tmp_path: Path) -> None:
    assert bootstrap(tiny).returncode == 0
    made = (tiny / ".venv").stat().st_ino
    # Stands for another interpreter: the same, but it answers for itself that it is another.
    other = program(
        tmp_path,
        "python3.99",
        f'case "$*" in *_base_executable*) echo another;; *) exec "{tmp_path}/quick-python" "$@";; esac',
    )
    assert bootstrap(tiny, PYTHON="").returncode == 0  # any will do
    assert (tiny / ".venv").stat().st_ino == made
    again = bootstrap(tiny, PYTHON=str(other))
    assert again.returncode == 0, again.stderr
    assert "Making .venv" in again.stderr
    assert (tiny / ".venv").stat().st_ino != made


def test_a_failed_installation_leaves_the_environment_as_it_was(tiny: Path) -> None:
    assert bootstrap(tiny).returncode == 0
    made = (tiny / ".venv").stat().st_ino
    failed = bootstrap(tiny, "broken")
    assert failed.returncode == 1
    assert "absent-from-everywhere" in failed.stderr
    assert "Check the network and pip's settings" in failed.stderr
    assert (tiny / ".venv").stat().st_ino == made
    assert left_over(tiny) == []


def test_an_interrupted_run_leaves_nothing(tiny: Path, tmp_path: Path) -> None:
    waits = tmp_path / "waits"
    os.mkfifo(waits)
    environment = os.environ | {"PYTHON": str(tmp_path / "quick-python"), "TINY_WAITS": str(waits)}
    process = subprocess.Popen([tiny / "scripts" / "bootstrap"], env=environment, start_new_session=True)
    waits.read_bytes()  # returns when the backend has opened and closed the other end
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(30) == 130
    assert not (tiny / ".venv").exists()
    assert left_over(tiny) == []


def without_ensurepip(directory: Path, python: Path, unless: Path) -> Path:
    """A Python that cannot make environments until a file exists."""
    return program(
        directory,
        "python3",
        f'case "$*" in *ensurepip*) [ -e "{unless}" ] || exit 1;; esac\nexec "{python}" "$@"',
    )


def test_without_ensurepip_the_command_is_shown(tiny: Path, tmp_path: Path, bare_path: Path) -> None:
    without_ensurepip(bare_path, tmp_path / "quick-python", unless=tmp_path / "never")
    program(bare_path, "apt-get", "exit 99")
    refused = bootstrap(tiny, PYTHON="", PATH=str(bare_path))
    assert refused.returncode == 2
    assert "no ensurepip" in refused.stderr
    assert "sudo apt-get install python3-venv" in refused.stderr
    assert not (tiny / ".venv").exists()


def test_without_ensurepip_root_installs_it(tiny: Path, tmp_path: Path, bare_path: Path) -> None:
    installed = tmp_path / "installed"
    without_ensurepip(bare_path, tmp_path / "quick-python", unless=installed)
    program(bare_path, "id", "echo 0")
    # The first install fails as on a fresh machine, which has no package lists before an update.
    program(
        bare_path,
        "apt-get",
        f'echo "$*" >>"{tmp_path}/calls"\n'
        f'case "$1" in update) : >"{tmp_path}/lists";; *) [ -e "{tmp_path}/lists" ] && : >"{installed}";; esac',
    )
    done = bootstrap(tiny, PYTHON="", PATH=str(bare_path))
    assert done.returncode == 0, done.stderr
    calls = (tmp_path / "calls").read_text("utf-8").splitlines()
    install = "install -y -q --no-install-recommends python3-venv"
    assert calls == [install, "update -q", install]


def test_a_python_that_cannot_is_passed_over_for_one_that_can(tiny: Path, tmp_path: Path, bare_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    without_ensurepip(first, tmp_path / "quick-python", unless=tmp_path / "never")
    program(second, "python3", f'exec "{tmp_path}/quick-python" "$@"')
    done = bootstrap(tiny, PYTHON="", PATH=f"{first}:{second}:{bare_path}")
    assert done.returncode == 0, done.stderr


def test_without_any_python_the_installation_is_shown(tiny: Path, bare_path: Path) -> None:
    refused = bootstrap(tiny, PYTHON="", PATH=str(bare_path))
    assert refused.returncode == 2
    assert "needs Python 3.11 or later" in refused.stderr
    assert "Missing system packages: python3 python3-venv" in refused.stderr


def test_an_old_python_is_refused_by_name(tiny: Path, bare_path: Path) -> None:
    old = program(bare_path, "python3.9", "exit 1")
    refused = bootstrap(tiny, PYTHON=str(old), PATH=str(bare_path))
    assert refused.returncode == 2
    assert f"PYTHON={old} is not a Python 3.11 or later" in refused.stderr


def test_nothing_is_installed_when_nothing_is_missing(project_root: Path, bare_path: Path) -> None:
    script = project_root / "scripts" / "install-system-packages"
    done = subprocess.run([script], env={"PATH": str(bare_path)}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_without_the_network_the_message_names_it(tiny: Path) -> None:
    closed = "http://127.0.0.1:9/simple"
    failed = bootstrap(tiny, "broken", PIP_NO_INDEX="0", PIP_INDEX_URL=closed, PIP_RETRIES="0")
    assert failed.returncode == 1
    assert "Check the network" in failed.stderr
