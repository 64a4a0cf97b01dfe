"""Names of tests are at most 60 characters long; those that are longer get fewer."""

from __future__ import annotations

import re
from pathlib import Path

from tests.architecture.test_files import tracked

LONGEST = 60
#: How many names were longer when this rule came. A commit that shortens some lowers it.
LEFT = 463
TEST = re.compile(r"^\s*(?:async )?def (test_\w+)", re.MULTILINE)


def test_no_new_name_is_longer_than_the_limit(project_root: Path) -> None:
    files = [name for name in tracked(project_root) if name.startswith("tests/") and name.endswith(".py")]
    names = [name for file in files for name in TEST.findall((project_root / file).read_text("utf-8"))]
    assert len(names) > 2_000
    longer = sorted((name for name in names if len(name) > LONGEST), key=len)
    assert len(longer) <= LEFT, longer[-5:]
