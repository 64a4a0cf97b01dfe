"""The corpus as a whole: enough files, of every format, and every mistake is found with all rules at work."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from eosctl.checks.judge import judge
from eosctl.findings.linted import findings_of
from tests.checks.configuration.test_rule_cases import CASES

GOOD = Path(__file__).parents[2] / "fixtures" / "configs" / "good"
LEAST_MISTAKES, LEAST_GOOD = 120, 40
FORMATS = {"properties", "yaml", "yml", "json", "toml", "env", "conf"}
SEEDED = [case for case in CASES if case.expect == "failed"]


def test_the_corpus_is_large_and_has_every_format() -> None:
    files = {(str(case), place.rpartition(":")[0]) for case in SEEDED for place in case.findings}
    assert len(files) >= LEAST_MISTAKES
    assert {name.rpartition(".")[2] for _, name in files} >= FORMATS
    assert len([path for path in GOOD.rglob("*") if path.is_file()]) >= LEAST_GOOD


def test_every_rule_has_two_files_with_its_mistake() -> None:
    seeded = Counter(case.check_id for case in SEEDED)
    assert {case.check_id for case in CASES} - {check_id for check_id, count in seeded.items() if count > 1} == set()


def test_every_mistake_is_found_among_all_rules() -> None:
    missed = []
    for case in SEEDED:
        found = {
            (finding.check_id, f"{facts['file']}:{facts['line']}")
            for finding in findings_of(judge(case.deployment()))
            if (facts := dict(finding.facts))
        }
        missed += [(str(case), place) for place in case.findings if (case.check_id, place) not in found]
    assert missed == []
