"""No file grows past what one idea needs, and every script that is meant to run can."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

LINE_LIMIT = 400

# Longer files, each with the reason why it is still one idea.
LONGER: dict[str, str] = {}


def tracked(root: Path) -> list[str]:
    """Return the files of the project: what git tracks, or what would be in a commit of everything."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    return sorted({name for name in listed.stdout.splitlines() if (root / name).is_file()})


def too_long(root: Path, names: list[str]) -> dict[str, int]:
    """Map each Python file over the limit to its lines."""
    lines = {name: len((root / name).read_text("utf-8").splitlines()) for name in names if name.endswith(".py")}
    return {name: count for name, count in lines.items() if count > LINE_LIMIT}


def test_no_file_is_longer_than_one_idea(project_root: Path) -> None:
    assert too_long(project_root, tracked(project_root)).keys() == LONGER.keys()


@pytest.mark.parametrize(("count", "refused"), [(LINE_LIMIT, False), (LINE_LIMIT + 1, True)])
def test_a_planted_long_file_is_refused(count: int, refused: bool, tmp_path: Path) -> None:
    (tmp_path / "long.py").write_text("pass\n" * count, "utf-8")
    assert bool(too_long(tmp_path, ["long.py"])) == refused


def test_what_a_build_generates_is_not_committed(project_root: Path) -> None:
    generated = [name for name in tracked(project_root) if name.startswith("eosctl/wire/generated/")]
    assert generated == ["eosctl/wire/generated/__init__.py"]


def test_scripts_with_a_shebang_can_be_run(project_root: Path) -> None:
    scripts = [name for name in tracked(project_root) if name.startswith(("scripts/", ".ci/"))]
    with_shebang = [name for name in scripts if (project_root / name).read_bytes().startswith(b"#!")]
    assert {".ci/run", "scripts/bootstrap"} <= set(with_shebang)
    assert [name for name in with_shebang if not os.access(project_root / name, os.X_OK)] == []


LINK = re.compile(r"\[[^\]]*\]\((?!https?:|#)([^)#\s]+)")


def broken_links(root: Path, names: list[str]) -> list[str]:
    """Name each relative link of a page that leads nowhere."""
    return [
        f"{name}: {target}"
        for name in names
        if name.endswith(".md")
        for target in LINK.findall((root / name).read_text("utf-8"))
        if not (root / name).parent.joinpath(target).exists()
    ]


def test_the_links_of_every_page_lead_somewhere(project_root: Path) -> None:
    assert broken_links(project_root, tracked(project_root)) == []


def test_a_planted_broken_link_is_seen(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("[a](page.md) [b](gone.md#x) [c](https://example.org) [d](#here)", "utf-8")
    assert broken_links(tmp_path, ["page.md"]) == ["page.md: gone.md"]
