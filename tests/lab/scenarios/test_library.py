"""Every scenario of the library, played on a simulated cluster: what it says must happen happens."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from eosctl.lab.scenarios.load import library
from eosctl.lab.scenarios.place import simulated
from eosctl.lab.scenarios.player import Verdict, play_script
from eosctl.lab.scenarios.script import Script
from eosctl.lab.virtual_loop import run_virtual

SEEDS = int(os.environ.get("EOSCTL_SCENARIO_SEEDS", "0"))
LONG = set() if SEEDS else {"epoch-exhaustion", "producer-ids-run-out"}  # thousands of requests each: make prove


def play(script: Script, directory: Path, seed: int = 1) -> Verdict:
    async def run() -> Verdict:
        async with simulated(script.cluster, directory, seed) as place:
            return await play_script(script, place, seed=seed)

    return run_virtual(run(), seed)


@pytest.mark.parametrize("name", sorted(set(library()) - LONG))
@pytest.mark.parametrize("seed", range(1, max(1, SEEDS) + 1))
def test_a_scenario_goes_as_it_says(name: str, seed: int, tmp_path: Path) -> None:
    verdict = play(library()[name], tmp_path, seed)
    assert [str(wrong) for wrong in verdict.expectations if not wrong.holds] == []
    assert verdict.expectations
