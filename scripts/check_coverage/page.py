"""The page that shows what is expected of rules, checks and explanations, where each is met, and how checks are shown.

``rows.txt`` holds the expectations. An answer that names something which does not exist is an error, so that the page
cannot promise what is not there.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import yaml

from eosctl.checks.declaration import Area, Check
from eosctl.checks.registry import CATALOGUE, CONFIGURATION_CHECKS, find_check
from eosctl.commands.registry import COMMANDS
from eosctl.render.configuration.setting import explain_setting
from eosctl.settings.vetted_profiles import load_vetted_profiles
from scripts.check_coverage.reviewed import ReviewedCluster, read_reviewed

ROOT: Final = Path(__file__).resolve().parent.parent.parent
ROWS: Final = Path(__file__).with_name("rows.txt")
FIXTURES: Final = ROOT / "tests" / "fixtures" / "checks"
# Where a test that names a check has provoked it.
SANDBOX: Final = ("tests/doctor", "tests/commands", "tests/lab", "tests/actions", "tests/forensics")
APACHE: Final = ("tests/apache",)
YES: Final = {True: "yes", False: "-"}


class Row(NamedTuple):
    """One expectation with its answers."""

    number: str
    subject: str
    answers: tuple[str, ...]
    reason: str
    note: str


def read_rows() -> tuple[Row, ...]:
    """Return the expectations by number.

    Raises:
        ValueError: A number occurs twice, or a line has no answer.
    """
    found: dict[str, Row] = {}
    for line in ROWS.read_text("utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        numbers, subject, answer, note = (part.strip() for part in line.split("|", 3))
        reason = answer.removeprefix("open:") if answer.startswith("open:") else ""
        answers = () if reason else tuple(answer.split())
        for number in numbers.split():
            if number in found or not (answers or reason):
                raise ValueError(f"{ROWS.name}: {number}")
            found[number] = Row(number, subject, answers, reason, note)
    return tuple(found[number] for number in sorted(found))


def exists(answer: str) -> bool:
    """Tell whether what an answer names is there."""
    kind, _, name = answer.partition(":")
    match kind:
        case "explain":
            return bool(explain_setting(name))
        case "profile":
            return name in {profile.name for profile in load_vetted_profiles()}
        case "cmd":
            return name in {entry.name for entry in COMMANDS}
        case "doc" | "test":
            return (ROOT / name).exists()
        case _:
            return find_check(answer) is not None


def render_coverage() -> str:
    """Render the page."""
    rows, checks = read_rows(), sorted(CATALOGUE, key=lambda check: check.id)
    enforced = enforced_by_clients()
    lines = [
        "# What is expected, and where it is met",
        "",
        f"{len(rows)} expectations of rules, checks, checklists and explanations, by their number; generated from",
        "`scripts/check_coverage`. What is not met says why.",
        "",
        "| Row | Subject | Met by | Remark |",
        "|---|---|---|---|",
        *(f"| {r.number} | {r.subject} | {_shown(r)} | {r.note} |" for r in rows),
        "",
        "# How each check is shown",
        "",
        f"{len(checks)} checks. Cases: how many pass, fail and are skipped or do not apply in `tests/fixtures/checks`.",
        "Sandbox and real Kafka: a test provokes it there; for rules over files, real clients of 2.8, 3.9 and 4.3 were",
        "started with its cases and did what it says (`tests/apache/test_configuration_verdicts.py`).",
        "",
        "| Id | Passed | Failed | Other | Sandbox | Real Kafka |",
        "|---|---|---|---|---|---|",
        *(_check_line(check, enforced) for check in checks),
        "",
        "# What doctor says of healthy real clusters",
        "",
        "Every finding was reviewed; `tests/apache/test_doctor_truth.py` holds doctor to this list on clusters that",
        "saw transactions and a group: nothing else is said. *Default* is what Kafka ships, *hardened* is the profile",
        "`broker-eos-production`.",
        "",
        "| Cluster | Brokers | Finding | Severity | It is true, because |",
        "|---|---|---|---|---|",
        *(line for one in read_reviewed() for line in _reviewed_lines(one)),
        "",
    ]
    return "\n".join(lines)


def _reviewed_lines(one: ReviewedCluster) -> Iterator[str]:
    start = f"| {one.cluster} | {one.broker_count} |"
    if not one.findings:
        yield f"{start} none | | |"
    for found in one.findings:
        yield f"{start} [{found.check_id}]({found.check_id}.md) | {found.severity} | {found.reason} |"


def _shown(row: Row) -> str:
    return f"not met: {row.reason}" if row.reason else ", ".join(map(_answer, row.answers))


def _answer(answer: str) -> str:
    kind, _, name = answer.partition(":")
    match kind:
        case "explain":
            return f"`config explain {name}`"
        case "profile":
            return f"`config render {name}`"
        case "cmd":
            return f"`eosctl {name}`"
        case "doc":
            return f"[{Path(name).stem}](../{name.removeprefix('docs/')})"
        case "test":
            return f"`{name}`"
        case _:
            return f"[{answer}]({answer}.md)"


def _check_line(check: Check, enforced: frozenset[str]) -> str:
    outcomes = list(_outcomes(check))
    passed, failed = outcomes.count("passed"), outcomes.count("failed")
    sandbox = check.area is not Area.CONFIGURATION and is_named(check.id, SANDBOX)
    real = check.id in enforced or is_named(check.id, APACHE)
    return (
        f"| [{check.id}]({check.id}.md) | {passed} | {failed} | {len(outcomes) - passed - failed} "
        f"| {YES[sandbox]} | {YES[real]} |"
    )


def _outcomes(check: Check) -> Iterator[str]:
    rules = {rule.id for rule in CONFIGURATION_CHECKS}
    folder = FIXTURES / "configuration" if check.id in rules and check.area is Area.CONFIGURATION else FIXTURES
    for case in yaml.safe_load((folder / f"{check.id}.yaml").read_text("utf-8"))["cases"]:
        yield case["expect"]


def is_named(check_id: str, folders: tuple[str, ...]) -> bool:
    """Tell whether a test in one of the folders names a check."""
    return any(check_id in text for folder in folders for text in _texts(folder))


@cache
def _texts(folder: str) -> tuple[str, ...]:
    return tuple(path.read_text("utf-8") for path in sorted((ROOT / folder).rglob("*.py")))


def enforced_by_clients() -> frozenset[str]:
    """Return the rules whose verdict is compared with what real clients do when they start."""
    text = (ROOT / "tests" / "apache" / "test_configuration_verdicts.py").read_text("utf-8")
    block = text.partition("ENFORCED = (")[2].partition("\n)\n")[0]
    return frozenset(f"EOS-CFG-{number}" for number in block.split('"') if number.isdigit())
