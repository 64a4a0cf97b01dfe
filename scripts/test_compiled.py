"""Compile the hot modules in a copy of the sources, and run the tests of their packages there.

    python -m scripts.test_compiled [PYTEST ARGUMENT...]

Needs a C compiler. Without arguments, run the tests of the compiled packages and their main users; then run the tests
that start processes again, with the event loop of `eosctl[speed]`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = [
    f"tests/{package}"
    for package in ("wire", "storage", "sandbox", "commands/decode", "analysis/fsck", "client", "lab/workloads")
]
#: They start sandboxes as separate processes, which select their event loop.
STARTED = [
    "tests/sandbox/process",
    "tests/sandbox/security/test_up.py",
    "tests/commands/test_sandbox.py",
    "tests/commands/test_sandbox_faults.py",
]
#: Methods of compiled classes and constants of compiled modules cannot be replaced.
LEFT_OUT_TESTS = (
    # Compiled handlers take a real broker only, not the one with a coordinator alone that these give them.
    *(
        f"tests/sandbox/transaction/test_{name}.py"
        for name in ("coordinator", "handlers", "marker_channel", "verification")
    ),
    "tests/sandbox/test_planted_bugs.py",  # Plants bugs to test other tests.
    "tests/sandbox/test_passed_messages.py",  # Replaces methods of the network.
    "tests/sandbox/replication/test_fed_followers.py::test_what_is_fed_is_what_would_have_been_answered",
    "tests/commands/decode/test_batch_lines.py::test_few_lines_are_remembered",
    "tests/commands/decode/test_batch_lines.py::test_a_run_ends_where_a_chunk_does_and_the_next_begins_there",
    "tests/sandbox/transaction/test_starting.py::test_a_load_takes_turns_and_ends_when_the_partition_is_gone",
    "tests/storage/test_scan.py::test_batches_too_large_to_keep_are_still_checked",
)
LEFT_OUT = frozenset({"build", "dist", "demo-output"})


def compile_copy(target: Path, source: Path = ROOT) -> None:
    """Copy the sources and build the extensions next to their modules.

    Raises:
        SystemExit: The build fails; the message contains the compiler's output.
    """

    def left_out(directory: str, names: list[str]) -> set[str]:
        if Path(directory) != source:  # Hidden files below the root are fixtures.
            return {"__pycache__"}
        return {name for name in names if name in LEFT_OUT or name.startswith(".") or name.endswith(".egg-info")}

    shutil.copytree(source, target, ignore=left_out)
    built = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
        cwd=target,
        env=os.environ | {"EOSCTL_COMPILED": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if built.returncode:
        raise SystemExit(f"The hot modules do not compile:\n{built.stdout}{built.stderr}")


def not_compiled(target: Path) -> list[str]:
    """Return the listed modules that would still run as Python."""
    project = tomllib.loads((target / "pyproject.toml").read_text(encoding="utf-8"))
    asks = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]:\n"
        # A built-in module has no file.
        "    file = getattr(importlib.import_module(name), '__file__', None)\n"
        "    if file is not None and file.endswith('.py'): print(name)"
    )
    names = project["tool"]["eosctl"]["compiled-modules"]
    shown = subprocess.run(
        [sys.executable, "-c", asks, *names], cwd=target, capture_output=True, text=True, check=True
    ).stdout
    return shown.split()


def add_speed(target: Path) -> Path:
    """Install the packages of `eosctl[speed]` into a directory of the copy, and return it.

    Raises:
        CalledProcessError: They cannot be installed.
    """
    project = tomllib.loads((target / "pyproject.toml").read_text(encoding="utf-8"))
    speed = target / "build" / "speed"
    wanted = project["project"]["optional-dependencies"]["speed"]
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--target", speed, *wanted], check=True)
    return speed


def run_tests(target: Path, arguments: Sequence[str], *more_paths: Path) -> int:
    """Run tests in the copy; child processes use it too."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (target, *more_paths)))}
    return subprocess.run(command, cwd=target, env=environment, check=False).returncode


def main() -> int:
    """Build, check, and test."""
    with tempfile.TemporaryDirectory(prefix="eosctl-compiled-") as directory:
        target = Path(directory) / "eosctl"
        compile_copy(target)
        if missing := not_compiled(target):
            raise SystemExit(f"These modules are not compiled: {', '.join(missing)}")
        if asked := sys.argv[1:]:
            return run_tests(target, asked)
        deselected = [f"--deselect={test}" for test in LEFT_OUT_TESTS]
        compiled = run_tests(target, [*PACKAGES, *deselected, "-m", "not apache"])
        return run_tests(target, [*STARTED, "-m", "not apache"], add_speed(target)) or compiled


if __name__ == "__main__":
    raise SystemExit(main())
