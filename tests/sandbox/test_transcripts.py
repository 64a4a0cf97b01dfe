"""The recorded answers of real brokers: every scenario, for every target and profile, on virtual time."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from eosctl.sandbox.api.api_versions import announced_apis
from eosctl.sandbox.ports import Emulation
from scripts.transcript_runner.matching import compare
from scripts.transcript_runner.runner import run_scenarios
from scripts.transcript_runner.scenario import TARGETS, Scenario, Target, load_scenarios

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "protocol"


@cache
def recorded() -> tuple[Scenario, ...]:
    """Return the recorded scenarios, which take seconds to parse: every worker of a run collects this file."""
    return tuple(load_scenarios(FIXTURES / "scenarios"))


@cache
def recorded_by_ourselves() -> tuple[Scenario, ...]:
    return tuple(load_scenarios(FIXTURES.parent / "transcripts"))


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_every_answer_is_as_recorded(target: Target, tmp_path: Path) -> None:
    outcomes = list(run_scenarios(recorded(), target, tmp_path))
    expected = [scenario for scenario in recorded() if target.name in scenario.targets]
    assert len(outcomes) == len(expected) > 150
    assert sum(outcome.check_count for outcome in outcomes) > 1100
    differences = {str(outcome.scenario): outcome.differences for outcome in outcomes if outcome.differences}
    assert differences == {}


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_every_answer_is_as_recorded_by_ourselves(target: Target, tmp_path: Path) -> None:
    outcomes = list(run_scenarios(recorded_by_ourselves(), target, tmp_path))
    assert len(outcomes) > 110
    assert sum(outcome.check_count for outcome in outcomes) > 900
    assert {str(outcome.scenario): outcome.differences for outcome in outcomes if outcome.differences} == {}


def test_a_wrong_answer_is_noticed(tmp_path: Path) -> None:
    # The runner must not pass by comparing nothing: turn one expectation of a scenario around.
    scenario = next(found for found in recorded() if str(found) == "end-txn/commit-repeated")
    changed = [dict(step) for step in scenario.steps]
    last = next(step for step in reversed(changed) if step.get("api") == "EndTxn")
    last["expect"] = {"errorCode": "UNKNOWN_SERVER_ERROR"}
    (outcome,) = run_scenarios([scenario._replace(steps=changed)], TARGETS[2], tmp_path)
    assert len(outcome.differences) == 1
    assert "UNKNOWN_SERVER_ERROR" in outcome.differences[0]


def test_names_bind_once_and_kinds_differ() -> None:
    names: dict[str, object] = {}
    assert compare({"a": "$pid_A", "b": "$pid_B"}, {"a": 1, "b": 2}, names) == []
    assert names == {"pid_A": 1, "pid_B": 2}
    assert compare("$pid_A", 2, names)
    assert compare("$pid_C", 1, names)  # a new name of a kind needs a new value


@pytest.mark.parametrize(
    ("name", "emulation"),
    [
        ("3.9-tv0", Emulation("3.9")),
        ("4.3-tv2", Emulation("4.3")),
        ("4.3-tv2-unstable", Emulation("4.3", unstable_api_versions=True)),
        ("4.4-tv2", Emulation("4.4")),
    ],
)
def test_announced_versions_are_the_recorded_ones(name: str, emulation: Emulation) -> None:
    lines = (FIXTURES / "api-versions" / f"{name}.yaml").read_text().splitlines()
    recorded = [line for line in lines if line.startswith("- {key:")]
    shown = [(api.api_key, api.min_version, api.max_version) for api in announced_apis(emulation)]
    assert [f"- {{key: {key}," in line for (key, _, _), line in zip(shown, recorded, strict=True)].count(False) == 0
    for (_, low, high), line in zip(shown, recorded, strict=True):
        assert f"min: {low}, max: {high}}}" in line
