"""Run the same seeds with every installed supported Python, and check that the histories are identical.

    python -m scripts.replay_across_pythons [SEED...]

Each interpreter gets a separate environment in a temporary folder, in which pip installs eosctl and its dependencies.
The exit status is 0 when all histories agree, 1 when one does not, 2 with fewer than two interpreters.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
VERSIONS: Final = ("3.11", "3.12", "3.13", "3.14")
SEEDS: Final = (1, 2, 3)
#: Seeds with different faults, which exercise randomness, task order, and clients.
PLANS: Final = (("all", "4.3"), ("clients", "3.9"))


def main(arguments: Sequence[str]) -> int:
    """Compare the histories of all interpreters."""
    seeds = tuple(map(int, arguments)) or SEEDS
    pythons = find_pythons(search_path())
    if len(pythons) < 2:
        print(f"Only {', '.join(pythons) or 'none'} of Python {', '.join(VERSIONS)} is installed.", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="eosctl-pythons-") as directory:
        played = {version: play(python, Path(directory) / version, seeds) for version, python in pythons.items()}
    expected = next(iter(played.values()))
    for version, digests in played.items():
        same = "the same" if digests == expected else "OTHER HISTORIES"
        print(f"Python {version}: {len(digests)} histories, {same}: {' '.join(digest[:12] for digest in digests)}")
    return 0 if all(digests == expected for digests in played.values()) else 1


def search_path() -> list[Path]:
    """Return the search path of interpreters: the PATH, and the versions of pyenv, which hides them behind a shim."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    return [
        *map(Path, os.environ.get("PATH", "").split(os.pathsep)),
        *sorted(pyenv.glob("versions/*/bin"), reverse=True),
    ]


def find_pythons(folders: Sequence[Path]) -> Mapping[str, Path]:
    """Return the first working interpreter of each supported version."""
    found: dict[str, Path] = {}
    for version in VERSIONS:
        for folder in folders:
            python = folder / f"python{version}"
            if python.is_file() and _version_of(python) == version:
                found[version] = python
                break
    return found


def play(python: Path, place: Path, seeds: Sequence[int]) -> list[str]:
    """Create an environment, and return the SHA-256 of each history."""
    subprocess.run([str(python), "-m", "venv", str(place)], check=True)
    own = str(place / "bin" / "python")
    install = [own, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--prefer-binary", str(ROOT)]
    subprocess.run(install, check=True)
    digests = []
    for plan, release in PLANS:
        for seed in seeds:
            file = place / f"{plan}-{seed}.jsonl"
            options = ["--seeds", "1", "--first-seed", str(seed), "--plan", plan, "--emulate", release]
            command = [own, "-I", "-m", "eosctl", "sandbox", "simulate", *options, "--history", str(file)]
            done = subprocess.run(command, cwd=place, capture_output=True, text=True)
            if done.returncode not in (0, 3):  # 3: the seed fails, which is a valid history.
                raise SystemExit(f"{own} ended with {done.returncode}: {done.stderr}")
            digests.append(hashlib.sha256(file.read_bytes()).hexdigest())
    return digests


def _version_of(python: Path) -> str:
    asked = [str(python), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
