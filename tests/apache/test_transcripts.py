"""What the sandbox is held to by our own recordings is what real brokers answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.lab.apache.engine import ApacheEngine
from scripts.transcript_runner.runner import play_on
from scripts.transcript_runner.scenario import TARGETS, load_scenarios

RECORDED = Path(__file__).resolve().parents[1] / "fixtures" / "transcripts"


@pytest.mark.parametrize(("engine", "target"), [("apache_3_9", TARGETS[0]), ("apache_4_3", TARGETS[2])])
def test_a_real_broker_answers_as_recorded(engine: str, target: object, request: pytest.FixtureRequest) -> None:
    broker: ApacheEngine = request.getfixturevalue(engine)
    outcomes = list(play_on(broker.bootstrap, load_scenarios(RECORDED), target))  # type: ignore[arg-type]
    assert len(outcomes) > 60
    assert {str(outcome.scenario): outcome.differences for outcome in outcomes if outcome.differences} == {}
