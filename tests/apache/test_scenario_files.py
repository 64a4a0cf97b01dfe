"""Scenarios of the library hold on real Kafka.

`make differential` runs all of them on separate clusters; here a few share one, under unique names.
"""

from __future__ import annotations

import asyncio
import json
import time

import msgspec
import pytest

from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.lab.scenarios.engines import ApacheEngine
from eosctl.lab.scenarios.load import library
from eosctl.lab.scenarios.player import play_script
from eosctl.lab.scenarios.script import Findings, Script

PLAYED = ["happy-path", "zombie", "txn-timeout", "unstable-offsets", "interleave", "bad-boundaries"]


def under_own_names(script: Script) -> Script:
    text = json.dumps(msgspec.to_builtins(script.steps))
    for shared in ("orders", "payments", "readers"):
        text = text.replace(shared, f"{script.name}.{shared}")
    return msgspec.structs.replace(script, steps=tuple(json.loads(text)), findings=Findings())


@pytest.mark.parametrize("name", PLAYED)
def test_a_scenario_holds_on_real_kafka(apache: ApacheNodes, name: str) -> None:
    verdict = asyncio.run(
        play_script(under_own_names(library()[name]), ApacheEngine(apache, lambda: time.time_ns() // 1_000_000))
    )
    assert [str(one) for one in verdict.expectations if not one.holds] == []
    assert verdict.expectations
