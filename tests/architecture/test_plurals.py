"""Numbers get their nouns from one function, so that nothing prints "1 findings"."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

#: A plural by hand, and names after a noun that is right for one of them only.
BY_HAND = re.compile(
    r"""["']s["'] if |["']1 \w+["'] if .* == 1 else|\b(?:broker|partition|group|node) \{["'], ["']\.join"""
)


def test_no_plural_is_made_by_hand(project_root: Path) -> None:
    found = [
        f"{path.relative_to(project_root)}: {match.group()}"
        for package in ("eosctl", "spark_log_analytics")
        for path in (project_root / package).rglob("*.py")
        if path != project_root / "eosctl" / "text.py"
        for match in BY_HAND.finditer(path.read_text("utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    "planted",
    [
        """f"broker{'s' if many else ''}\"""",
        """words = "1 program" if count == 1 else f"{count} programs\"""",
        """f"on broker {', '.join(own)}\"""",
    ],
)
def test_a_planted_plural_is_found(planted: str) -> None:
    assert BY_HAND.search(planted)
