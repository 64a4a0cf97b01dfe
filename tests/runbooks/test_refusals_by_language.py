"""Procedures that destroy data or guarantees are refused in five languages, in many ways to ask for them."""

from __future__ import annotations

import tomllib
from itertools import product
from pathlib import Path
from typing import Final

import pytest

from eosctl.runbooks.refused import Mood, find_refused, recognize
from tests.commands.conftest import eosctl

CASES: Final = tomllib.loads((Path(__file__).parents[1] / "fixtures" / "runbooks" / "refusals.toml").read_text("utf-8"))
FRAMES: Final = CASES["frames"]
REQUESTS: Final = CASES["requests"]


@pytest.mark.parametrize("language", FRAMES)
def test_deletions_are_refused_in_each_language(language: str) -> None:
    cases = [
        (name, frame.format(verb, thing))
        for name, by_language in CASES["objects"].items()
        for frame, verb, thing in product(FRAMES[language], CASES["verbs"][language], by_language[language])
    ]
    assert [text for name, text in cases if name not in {one.name for one in find_refused(text)}] == []


@pytest.mark.parametrize("name", REQUESTS)
def test_guarantees_are_not_given_away_in_any_language(name: str) -> None:
    assert [text for text in REQUESTS[name] if name not in {one.name for one in find_refused(text)}] == []


@pytest.mark.parametrize("text", CASES["left_alone"])
def test_reports_and_warnings_are_not_requests(text: str) -> None:
    assert [found.procedure.name for found in recognize(text) if found.mood is Mood.ORDERED] == []


def test_each_refusal_has_a_reason_and_a_safe_way() -> None:
    for command in ("diagnose", "explain"):
        for texts in REQUESTS.values():
            done = eosctl(command, texts[0])
            assert done.code == 3, (command, texts[0])
            assert "REFUSED" in done.out + done.err
