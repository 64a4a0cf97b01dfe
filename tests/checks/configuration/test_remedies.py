"""What one lint advises can be followed as a whole: no remedy undoes another one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import combinations, product
from typing import Final, NamedTuple

from eosctl.checks.judge import findings_of, judge
from tests.checks.configuration.test_rule_cases import CASES

STEP: Final = re.compile(
    r"\b(?P<verb>remove|set|raise|lower|write|put)\s+(?:an?\s+)?(?P<key>it|the setting|[\w-]+(?:\.[\w-]+)+)\b", re.I
)
ALTERNATIVE: Final = re.compile(r",? or (?=[a-z]+ )")


class Advice(NamedTuple):
    """One remedy: the ways to follow it, of which any is enough. A way tells which keys it removes, and which not."""

    file: str
    ways: tuple[dict[str, bool], ...]


def advice(file: str, keys: str, remedy: str) -> Advice:
    """Read a remedy; "it" and "the setting" are the first of the finding's keys."""
    first = keys.split(",")[0]
    return Advice(
        file,
        tuple(
            {
                first if step["key"].lower() in ("it", "the setting") else step["key"]: step["verb"].lower() == "remove"
                for step in STEP.finditer(way)
            }
            for way in ALTERNATIVE.split(remedy)
        ),
    )


def contradictions(advised: Iterable[Advice]) -> list[tuple[Advice, Advice]]:
    """Return the pairs for one file of which no way of the one goes with any way of the other."""
    return [
        (one, other)
        for one, other in combinations(advised, 2)
        if one.file == other.file
        and all(any(a[key] != b[key] for key in a.keys() & b.keys()) for a, b in product(one.ways, other.ways))
    ]


def test_no_two_remedies_of_one_lint_contradict_each_other() -> None:
    for case in CASES:
        if case.expect == "failed":
            findings = findings_of(judge(case.deployment()))
            facts = [(dict(finding.facts), remedy) for finding in findings for remedy in finding.remedy]
            advised = [advice(str(told["file"]), str(told["keys"]), remedy) for told, remedy in facts]
            assert contradictions(advised) == [], case


def test_removing_what_another_finding_wants_set_is_a_contradiction() -> None:
    removed = advice("p", "transaction.timeout.ms", "Remove it.")
    assert contradictions([removed, advice("p", "a.b", "Remove a.b and set a transaction.timeout.ms longer than c.")])
    assert contradictions([removed, advice("p", "transaction.timeout.ms", "Set it to 3 or less.")])


def test_what_can_be_followed_together_is_none() -> None:
    removed = advice("p", "a.b", "Remove a.b.")
    assert not contradictions([removed, advice("p", "a.b", "Set a.b=3, or remove a.b.")])
    assert not contradictions([removed, advice("p", "a.b", "Upgrade, or remove it."), advice("q", "a.b", "Set a.b=3.")])
    assert not contradictions([removed, advice("p", "c.d", "Set c.d to 3 or less.")])
