"""Java programs of the tests, compiled and started with options for processes that live for seconds.

The JVM's defaults are for servers that run for days: the second compiler and a concurrent collector cost a program of a
test about as much processor time as its work.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from eosctl.lab.apache.java import find_java
from eosctl.lab.apache.node import QUICK_START
from eosctl.lab.apache.releases import resolve_release
from eosctl.lab.engine import MissingTool


def compile_java(source: Path, classes: Path, class_path: str, *options: str) -> None:
    """Compile a source file into a folder; without javac, the test is skipped."""
    javac = shutil.which("javac")
    if javac is None:
        pytest.skip("javac is missing: the program of this test must be compiled")
    quick = [f"-J{option}" for option in QUICK_START]
    command = [javac, *quick, "-proc:none", *options, "-d", str(classes), "-cp", class_path, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def java_command(
    class_path: str,
    main_class: str,
    *options: str,
    heap_mib: int,
    release: str = "4.3.1",
    jvm: Sequence[str] = QUICK_START,
) -> list[str]:
    """Return the command line that starts a class with Java for a release; without Java, the test is skipped."""
    try:
        java = find_java(resolve_release(release))
    except MissingTool as missing:
        pytest.skip(f"{missing.tool} is missing: {missing.what}")
    return [str(java), f"-Xmx{heap_mib}m", *jvm, *options, "-cp", class_path, main_class]
