"""The records of streams groups in `__consumer_offsets` are those that real brokers of 4.3.1 and 4.4.0 wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scripts.transcript_runner.conversation import Conversation
from scripts.transcript_runner.runner import open_cluster
from scripts.transcript_runner.scenario import DEFAULT_PROFILE, TARGETS, Target, load_scenario
from tests.sandbox.group.streams_group_logs import SCENARIOS, streams_group_records

FIXTURES = Path(__file__).parents[2] / "fixtures"


def recorded(release: str) -> dict[str, list[dict[str, Any]]]:
    content: dict[str, dict[str, list[dict[str, Any]]]] = json.loads(
        (FIXTURES / "sandbox" / "streams-group-records.json").read_text("utf-8")
    )
    return content[release]


@pytest.mark.parametrize("target", [TARGETS[2], TARGETS[3]], ids=lambda target: target.name)
def test_records_are_those_of_a_real_broker(target: Target, tmp_path: Path) -> None:
    expected = recorded(target.release)
    harness = open_cluster(target, DEFAULT_PROFILE, tmp_path)
    try:
        for number, name in enumerate(SCENARIOS):
            scenario = load_scenario(FIXTURES / "transcripts" / f"{name}.yaml")
            if target.name not in scenario.targets:
                continue
            run = f"{number:04x}rec"
            assert Conversation(harness, scenario, target, run).run().differences == []
            assert list(streams_group_records(tmp_path, run)) == expected.pop(name), name
    finally:
        harness.close()
    assert expected == {}
