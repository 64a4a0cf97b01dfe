"""Names that people give: verdicts do not depend on how transactional ids, groups and applications are spelt."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from itertools import cycle
from pathlib import Path

import pytest

from tests.logs.rendering import TRUTH, Files, load, verdicts_stay

SCENARIOS = ("second-producer-392", "missing-acl-431", "poll-interval-392")
SPELLINGS: dict[str, Callable[[str], str]] = {
    "dots": lambda name: name.replace("-", "."),
    "capitals": lambda name: name.upper().replace("-", "_"),
    "paths": lambda name: f"eu/prod/{name}",
    "colons": lambda name: f"eu:{name}:0",
    "blanks": lambda name: name.replace("-", " "),
    "commas": lambda name: name.replace("-", ","),
    "brackets": lambda name: f"{name}[0]",
    "signs": lambda name: f"{name}@host#1",
    "uuids": lambda name: f"{name}-7c9e6679-7425-40de-944b-e07fc1f90ae7",
    "numbers": lambda name: str(int(name.encode().hex(), 16) % 10**12),
    "long": lambda name: f"{name}-{'x9' * 60}",
    "letters of other languages": lambda name: f"{name}-zürich",
}


def names_in(files: Files, *fields: str) -> set[str]:
    """Return the values that the truth gives to some fields, and those that clients print."""
    truths = json.loads(files[TRUTH])["truth"]
    truth = {one["subject"][field] for one in truths for field in fields if field in one["subject"]}
    printed = "|".join(
        {"transactional.id": "transactionalId", "group": "groupId"}.get(field, field) for field in fields
    )
    return truth | {name for text in files.values() for name in re.findall(rf"(?:{printed})=([\w.-]+)\]", text)}


def respelt(files: Files, names: Iterable[str], spelling: Callable[[str], str]) -> Files:
    known = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w.-])(?:{known})(?!\w)")

    def write(name: str, text: str) -> str:
        is_json = name.endswith(".json")
        return pattern.sub(lambda found: json.dumps(spelling(found[0]))[1:-1] if is_json else spelling(found[0]), text)

    return {name: write(name, text) for name, text in files.items()}


@pytest.mark.parametrize(("spelling", "scenario"), [*zip(SPELLINGS, cycle(SCENARIOS))])
def test_transactional_ids_may_be_spelt_in_any_way(scenario: str, spelling: str, tmp_path: Path) -> None:
    files = load(scenario)
    groups = names_in(files, "group", "application.id")
    # Those of Streams begin with its group.
    ids = {name for name in names_in(files, "transactional.id") if not any(name.startswith(group) for group in groups)}
    verdicts_stay(tmp_path, respelt(files, ids or groups, SPELLINGS[spelling]))


@pytest.mark.parametrize(("spelling", "scenario"), [*zip(SPELLINGS, cycle((*SCENARIOS[1:], SCENARIOS[0])))])
def test_groups_and_applications_may_be_spelt_in_any_way(scenario: str, spelling: str, tmp_path: Path) -> None:
    files = load(scenario)
    verdicts_stay(tmp_path, respelt(files, names_in(files, "group", "application.id"), SPELLINGS[spelling]))
