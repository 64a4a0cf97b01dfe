"""How long `eosctl config lint` takes for 1,000 files; the aim is less than 3 s.

Run: `python -m benchmarks.config_lint`. The files are the good configurations of the tests, over and over, each with
names of its own, so that rules across files have many applications to compare. No other tool judges these files, so
there is no peer; the plain parsing of the same files as YAML, JSON, or properties is shown for comparison.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import as_installed
from eosctl.settings.files.documents import parse_documents

GOOD = Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "configs" / "good"
FILE_COUNT = 1_000


def fill(folder: Path, count: int = FILE_COUNT) -> None:
    """Write the files."""
    originals = sorted(GOOD.iterdir())
    for number in range(count):
        original = originals[number % len(originals)]
        text = original.read_text("utf-8")
        for name in ("orders", "enrich", "bulk", "edge", "json-writer", "toml-writer", "py-0", "totals"):
            text = text.replace(name, f"{name}{number}")
        (folder / f"{number}-{original.name}").write_text(text, "utf-8")


def measure(work: Callable[[], object]) -> float:
    """Return the best of three runs, in seconds."""
    times = []
    for _ in range(3):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fill(folder)
        installed = as_installed()

        def lint() -> None:
            command = [sys.executable, "-m", "eosctl", "config", "lint", name, "--exit-zero", "-o", "json"]
            subprocess.run(command, env=installed, check=True, capture_output=True)

        def parse() -> None:
            for path in folder.iterdir():
                parse_documents(path.name, path.read_text("utf-8"))

        print("| What | 1,000 files, s |")
        print("|---|---|")
        print(f"| eosctl config lint, whole process | {measure(lint):.2f} |")
        print(f"| parsing alone, in a warm process | {measure(parse):.2f} |")


if __name__ == "__main__":
    main()
