"""A few scenarios of the library on real Kafka: what they say of the sandbox is true there."""

from __future__ import annotations

import asyncio

import pytest

from eosctl.lab.apache.engine import ApacheEngine
from eosctl.lab.scenarios.place import EnginePlace
from eosctl.lab.scenarios.player import play_script
from eosctl.lab.scenarios.script import library

PLAYED = ["happy-path", "zombie", "txn-timeout", "unstable-offsets", "interleave", "bad-boundaries"]


@pytest.mark.parametrize("name", PLAYED)
def test_a_scenario_goes_on_real_kafka_as_it_says(apache: ApacheEngine, name: str) -> None:
    script = library()[name]
    verdict = asyncio.run(play_script(script, EnginePlace(apache)))
    wrong = [str(one) for one in verdict.expectations if not one.holds and "check" not in one.what]
    assert wrong == []
