"""No file grows past what one idea needs, and every script that is meant to run can."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

LINE_LIMIT = 400
#: Commands are options, a request, and a result: together they stay below this.
COMMAND_LINES = 6_000
#: A module with fewer lines and one importer belongs into it, unless it is a thing of its own.
LINE_FLOOR = 46
IMPORTED = re.compile(r"^\s*from ([\w.]+) import (\([^)]*\)|[^\n]+)", re.MULTILINE)

SHORTER = {
    "eosctl/analysis/fsck/two_looks.py": "pure, and its importer reads files",
    "eosctl/checks/logs/": "one check a file",
    "eosctl/knowledge/": "the loader of one file of facts",
    "eosctl/lab/outside_view.py": "its importer is as long as a file may be",
    "eosctl/lab/rehearsals/steps/registry.py": "the list of steps, which tools read, too",
    "eosctl/lab/scenarios/steps/groups.py": "the steps of group members",
    "eosctl/lab/verify/safety.py": "a rule of the lab, and its importer is a service",
    "eosctl/logs/digest/": "one part of the digest a file",
    "eosctl/render/": "one view a file",
    "eosctl/sandbox/controller/producer_ids.py": "one API of the controller",
    "eosctl/sandbox/coordinator/transaction/rules/": "one rule of the coordinator a file",
    "eosctl/sandbox/log/closed.py": "an exception that a compiled module cannot define",
    "eosctl/sandbox/metadata/snapshot_download.py": "a conversation of its own",
    "eosctl/services/": "one use case a file",
    "eosctl/settings/": "one format of files a file",
}
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


def too_short(root: Path, names: list[str]) -> dict[str, str]:
    """Map each product module below the floor that one other module alone imports to that module."""
    modules = {name.removesuffix(".py").replace("/", "."): name for name in names if name.startswith("eosctl/")}
    importers: dict[str, set[str]] = {module: set() for module in modules}
    for module, name in modules.items():
        for found in IMPORTED.findall((root / name).read_text("utf-8")):
            for part in (found[0], *(f"{found[0]}.{word.strip()}" for word in found[1].strip("()").split(","))):
                if part in importers:
                    importers[part].add(module)
    return {
        modules[module]: users.pop()
        for module, users in importers.items()
        if len(users) == 1 and len((root / modules[module]).read_text("utf-8").splitlines()) < LINE_FLOOR
    }


def test_no_module_is_too_small_to_be_a_file(project_root: Path) -> None:
    names = [name for name in tracked(project_root) if name.endswith(".py") and not name.endswith("__init__.py")]
    names = [name for name in names if not name.startswith("eosctl/wire/messages/")]  # generated
    found = too_short(project_root, names)
    assert {name: user for name, user in found.items() if not name.startswith(tuple(SHORTER))} == {}
    assert [place for place in SHORTER if not any(name.startswith(place) for name in found)] == []


def test_a_planted_short_module_is_refused(tmp_path: Path) -> None:
    (tmp_path / "eosctl").mkdir()
    (tmp_path / "eosctl" / "a.py").write_text("from eosctl.b import value\n", "utf-8")
    (tmp_path / "eosctl" / "b.py").write_text("value = 1\n", "utf-8")
    assert too_short(tmp_path, ["eosctl/a.py", "eosctl/b.py"]) == {"eosctl/b.py": "eosctl.a"}


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


LINK = re.compile(r"\[[^\]]*\]\((?!https?:|#|\?)([^)#\s]+)")  # `[a-z](?:b)` in a pattern is not a link.
INCLUDED = re.compile(r"^```\{include\} \.\./(\S+)", re.MULTILINE)


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


def links_out_of_the_book(root: Path, names: list[str]) -> list[str]:
    """Name each link of an included page that leaves docs/: Sphinx has no page for its target, and the build fails."""
    included = [page for name in names if name.startswith("docs/") for page in INCLUDED.findall(_text_of(root, name))]
    return [
        f"{page}: {target}"
        for page in included
        for target in LINK.findall(_text_of(root, page))
        if not target.startswith("docs/")
    ]


def _text_of(root: Path, name: str) -> str:
    return (root / name).read_text("utf-8") if name.endswith(".md") else ""


def test_included_pages_link_to_pages_of_the_book(project_root: Path) -> None:
    assert links_out_of_the_book(project_root, tracked(project_root)) == []


def test_a_planted_link_out_of_the_book_is_seen(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/guide.md").write_text("```{include} ../GUIDE.md\n```\n", "utf-8")
    (tmp_path / "GUIDE.md").write_text("[a](docs/page.md) [b](eosctl/lazy.py) [c](https://example.org)", "utf-8")
    assert links_out_of_the_book(tmp_path, ["GUIDE.md", "docs/guide.md"]) == ["GUIDE.md: eosctl/lazy.py"]


def test_a_planted_broken_link_is_seen(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("[a](page.md) [b](gone.md#x) [c](https://example.org) [d](#here)", "utf-8")
    assert broken_links(tmp_path, ["page.md"]) == ["page.md: gone.md"]


def test_commands_stay_thin(project_root: Path) -> None:
    files = (project_root / "eosctl" / "commands").rglob("*.py")
    assert sum(len(path.read_text("utf-8").splitlines()) for path in files) <= COMMAND_LINES
