"""Patterns are refused and match as by RE2/J of Kafka 4.3.1, which wrote the fixture (scripts/re2_vectors)."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Final

from eosctl.sandbox.re2.nodes import InvalidPattern
from eosctl.sandbox.re2.pattern import compile_re2

RECORDED: Final = Path(__file__).parents[2] / "fixtures" / "protocol" / "re2j-patterns.tsv.gz"
TEXTS: Final = (
    "", "a", "b", "A", "ab", "ba", "aa", "aaa", "a.b", "1", "a1", "_", "a\n", "\n", "a\nb", "ba b", "é", "-", "]",
    "aab", "K", "s", "S", "bb", "AB", "^", "a-", "[", "{2", "{,2}", "a b",
)  # fmt: skip


def test_patterns_are_judged_as_by_re2j() -> None:
    with gzip.open(RECORDED, "rt", encoding="utf-8", newline="\n") as lines:
        recorded = [line.rstrip("\n").split("\t") for line in lines]
    assert len(recorded) == 5_000
    differing = [(pattern, theirs, ours) for pattern, theirs in recorded if (ours := _result(pattern)) != theirs]
    assert differing == []


def _result(pattern: str) -> str:
    try:
        compiled = compile_re2(bytes.fromhex(pattern).decode())
    except InvalidPattern as error:
        return str(error)
    return "".join("01"[compiled.fullmatch(text)] for text in TEXTS)
