"""Names of tests are at most 60 characters long."""

from __future__ import annotations

import re
from pathlib import Path

from tests.architecture.test_files import tracked

LONGEST = 60
TEST = re.compile(r"^\s*(?:async )?def (test_\w+)", re.MULTILINE)


def long_names(text: str) -> list[str]:
    """Return the names of tests in a file's text that exceed the limit."""
    return [name for name in TEST.findall(text) if len(name) > LONGEST]


def test_no_name_is_longer_than_the_limit(project_root: Path) -> None:
    files = [name for name in tracked(project_root) if name.startswith("tests/") and name.endswith(".py")]
    texts = {name: (project_root / name).read_text("utf-8") for name in files}
    assert sum(len(TEST.findall(text)) for text in texts.values()) > 2_000
    assert {name: found for name, text in texts.items() if (found := long_names(text))} == {}


def test_a_planted_long_name_is_found() -> None:
    name = "test_" + "x" * (LONGEST - 4)
    assert long_names(f"def {name}() -> None: ...\ndef test_short() -> None: ...\n") == [name]
