"""Every scenario of the library, played on a simulated cluster: what it says must happen happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.lab.scenarios.place import simulated
from eosctl.lab.scenarios.player import Verdict, play_script
from eosctl.lab.scenarios.script import Script, library
from eosctl.lab.virtual_loop import run_virtual

LONG = {"epoch-exhaustion"}  # 32,766 initialisations; it is part of `make prove scenarios`


def play(script: Script, directory: Path, seed: int = 1) -> Verdict:
    async def run() -> Verdict:
        async with simulated(script.cluster, directory, seed) as place:
            return await play_script(script, place, seed=seed)

    return run_virtual(run(), seed)


@pytest.mark.parametrize("name", sorted(set(library()) - LONG))
def test_a_scenario_goes_as_it_says(name: str, tmp_path: Path) -> None:
    verdict = play(library()[name], tmp_path)
    assert [str(wrong) for wrong in verdict.expectations if not wrong.holds] == []
    assert verdict.expectations
