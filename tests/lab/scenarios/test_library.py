"""Every scenario of the library, played on a simulated cluster: what it says must happen happens."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from eosctl.lab.scenarios.engines import simulated
from eosctl.lab.scenarios.load import library
from eosctl.lab.scenarios.player import Verdict, play_script
from eosctl.lab.scenarios.releases import parse_range, settle
from eosctl.lab.scenarios.script import Script
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.emulation import FULL_RELEASE

SEEDS = int(os.environ.get("EOSCTL_SCENARIO_SEEDS", "0"))
LONG = set() if SEEDS else {"epoch-exhaustion", "producer-ids-run-out"}  # thousands of requests each: make prove


def play(script: Script, directory: Path, seed: int = 1, release: str | None = None) -> Verdict:
    script = settle(script, wanted=release)

    async def run() -> Verdict:
        async with simulated(script.cluster, directory, seed) as engine:
            return await play_script(script, engine, seed=seed)

    return run_virtual(run(), seed)


def covered(name: str) -> list[str]:
    range_of = parse_range(library()[name].cluster.release)
    return [release for release, full in FULL_RELEASE.items() if range_of.covers(full)]


OLDER = [
    (name, releases[0]) for name in sorted(set(library()) - LONG) for releases in [covered(name)] if len(releases) > 1
]


@pytest.mark.parametrize(("name", "release"), OLDER)
def test_a_scenario_holds_on_its_oldest_release(name: str, release: str, tmp_path: Path) -> None:
    verdict = play(library()[name], tmp_path, release=release)
    assert [str(wrong) for wrong in verdict.expectations if not wrong.holds] == []


@pytest.mark.parametrize("name", sorted(set(library()) - LONG))
@pytest.mark.parametrize("seed", range(1, max(1, SEEDS) + 1))
def test_a_scenario_goes_as_it_says(name: str, seed: int, tmp_path: Path) -> None:
    verdict = play(library()[name], tmp_path, seed)
    assert [str(wrong) for wrong in verdict.expectations if not wrong.holds] == []
    assert verdict.expectations
