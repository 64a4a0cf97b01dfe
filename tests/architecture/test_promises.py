"""Every promise of SECURITY.md names the tests that hold it, and these tests exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROMISES = (ROOT / "SECURITY.md").read_text("utf-8").partition("## What eosctl promises")[2].partition("\n## ")[0]


def test_every_promise_names_tests_that_exist() -> None:
    promises = re.split(r"^- \*\*", PROMISES, flags=re.MULTILINE)[1:]
    assert len(promises) >= 7
    for promise in promises:
        named = re.findall(r"`(tests/[\w/]+\.py)`", promise)
        assert named, promise
        for name in named:
            assert "def test_" in (ROOT / name).read_text("utf-8"), name
