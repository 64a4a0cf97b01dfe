"""Invert every comparison of every configuration rule, one at a time; a case of the rule must fail each time.

A comparison that can be turned round without a case noticing is not tested. Prints the survivors, and exits with 1 when
there are any.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NamedTuple

import yaml

from eosctl.checks.configuration.judge import findings_of, judge
from eosctl.checks.configuration.registry import ALL_RULES
from eosctl.checks.configuration.rule import Rule
from eosctl.model.deployment import Deployment
from eosctl.settings.deployment_files import read_components
from eosctl.settings.parameter_tables import load_tables, parse_release

ROOT = Path(__file__).resolve().parent.parent
RULES = ROOT / "eosctl" / "checks" / "configuration"
CASES = ROOT / "tests" / "fixtures" / "checks" / "configuration"
INVERSE: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}


class Expected(NamedTuple):
    """Files, and what a rule says of them; severities are compared where a case names them."""

    deployment: Deployment
    status: str
    places: list[str]
    severities: list[str]


class Mutant(NamedTuple):
    """A rule's source with one comparison turned round."""

    rule: str
    line: int
    tree: ast.Module


def mutants(rule: str, source: str) -> Iterator[Mutant]:
    """Yield a tree for each comparison of a rule's function and of the functions beside it."""
    places = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Compare)]
    for number, place in enumerate(places):
        for operand, operator in enumerate(place.ops):
            if type(operator) not in INVERSE:
                continue
            tree = ast.parse(source)
            twin = [node for node in ast.walk(tree) if isinstance(node, ast.Compare)][number]
            twin.ops[operand] = INVERSE[type(operator)]()
            yield Mutant(rule, place.lineno, ast.fix_missing_locations(tree))


def survives(mutant: Mutant, cases: list[Expected]) -> bool:
    """Tell whether all cases end as before."""
    module = ModuleType(mutant.rule)
    try:
        exec(compile(mutant.tree, f"{mutant.rule}.py", "exec"), module.__dict__)
        rule: Rule = getattr(module, mutant.rule)
        return all(is_met(rule, case) for case in cases)
    except Exception:  # noqa: BLE001 - a mutant may fail in any way; each counts as noticed
        return False


def is_met(rule: Rule, case: Expected) -> bool:
    """Tell whether a rule says of a case what the case expects."""
    (result,) = judge(case.deployment, [rule])
    found = findings_of([result])
    places = [f"{facts['file']}:{facts['line']}" for finding in found if (facts := dict(finding.facts))]
    severities = [finding.severity.value for finding in found]
    return (result.status.value, places) == (case.status, case.places) and case.severities in ([], severities)


def load_cases(check_id: str) -> list[Expected]:
    """Return the cases of a rule, parsed once."""
    loaded: list[dict[str, Any]] = yaml.safe_load((CASES / f"{check_id}.yaml").read_text("utf-8"))["cases"]
    found = []
    for case in loaded:
        release = parse_release(case["kafka"]) if "kafka" in case else None
        parts = [part for name, text in case["files"].items() for part in read_components(name, text, release=release)]
        deployment = Deployment(tuple(parts), load_tables())
        found.append(Expected(deployment, case["expect"], case.get("findings", []), case.get("severities", [])))
    return found


def survivors() -> tuple[int, list[Mutant]]:
    """Return how many mutants there were, and those that no case noticed."""
    count, alive = 0, []
    for rule in ALL_RULES:
        name = rule.check.evaluate.__name__
        cases = load_cases(rule.check.id)
        for mutant in mutants(name, (RULES / f"{name}.py").read_text("utf-8")):
            count += 1
            if survives(mutant, cases):
                alive.append(mutant)
    return count, alive


def main() -> int:
    """Print the survivors."""
    count, alive = survivors()
    for mutant in alive:
        print(f"{RULES.relative_to(ROOT)}/{mutant.rule}.py:{mutant.line}: no case notices this comparison inverted")
    print(f"{count} comparisons inverted, {count - len(alive)} noticed, {len(alive)} not.")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
