"""The page of benchmarks and proofs: results with commit, date, and command."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scripts.book.cells import cell, code

ROOT = Path(__file__).resolve().parent.parent.parent
PROOFS = ROOT / "docs" / "proofs"
RESULTS = ROOT / "benchmarks" / "results"


def numbers_page() -> str:
    """Return the page."""
    return "\n".join([*_introduction(), *_proofs(), *_benchmarks()]) + "\n"


def _introduction() -> Iterator[str]:
    yield "# Numbers\n"
    yield "Nothing is claimed that is not here. Each table is the last that a program of `benchmarks/` printed; the"
    yield "machine is small and noisy: ratios within a run are more reliable than absolute figures. Missed targets are"
    yield "marked.\n"


def _proofs() -> Iterator[str]:
    yield "## Proofs\n\nLong runs, each repeated by `make prove NAME`.\n"
    yield "| Name | Claim | Held | Took | Commit | When |\n|---|---|---|---:|---|---|"
    for path in sorted(PROOFS.glob("*.json")):
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        held, took = "yes" if record["succeeded"] else "NO", f"{record['duration_ms'] / 1000:,.0f} s"
        when, commit = record["began_at"][:10], code(record["commit"][:10])
        yield f"| {code(path.stem)} | {cell(record['claim'])} | {held} | {took} | {commit} | {when} |"
    yield ""


def _benchmarks() -> Iterator[str]:
    newest = {_topic(path): path for path in sorted(RESULTS.glob("*.md"))}
    for topic, path in sorted(newest.items()):
        yield f"## {topic.replace('-', ' ').capitalize()}\n"
        program = topic.replace("-", "_")
        # A table of several programs contains its own commands.
        is_one = (RESULTS.parent / f"{program}.py").exists()
        yield f"`python -m benchmarks.{program}`, {_kept(path)}\n" if is_one else f"Measured {_kept(path)}\n"
        yield _below_ours(path.read_text(encoding="utf-8"))


def _kept(path: Path) -> str:
    """Return when and with which code a table was measured: the commit that added it, if git knows it."""
    asked = ["git", "log", "-1", "--format=%h", "--", str(path)]
    try:
        commit = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):  # The sources come from an archive.
        commit = ""
    return f"{path.stem[:10]}, " + (f"commit {code(commit)}." if commit else "before it was committed.")


def _below_ours(text: str) -> str:
    """Shift a table's headings below those of this page."""
    heading = re.compile(r"^#+(?= )", re.MULTILINE)
    levels = sorted({len(marks) for marks in heading.findall(text)})
    return heading.sub(lambda marks: "#" * (3 + levels.index(len(marks[0]))), text)


def _topic(path: Path) -> str:
    return re.sub(r"^\d{4}-\d{2}-\d{2}-", "", path.stem)
