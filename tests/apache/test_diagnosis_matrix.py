"""Every fault that clients alone can make, all on one real broker: the verdicts of the sandbox, and no others."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from eosctl.lab.apache.nodes import ApacheNodes
from scripts.diagnosis_matrix.faults.registry import FAULTS
from scripts.diagnosis_matrix.play import SETTINGS, plant_and_diagnose
from scripts.diagnosis_matrix.site import Site

pytestmark = pytest.mark.usefixtures("own_home")

#: What 3.9 does not know.
NEEDS_4 = frozenset({"two_phase"})


@pytest.mark.parametrize("version", [pytest.param("3.9.2", marks=pytest.mark.long), "4.3.1"])
def test_all_faults_together(
    version: str, apache_running: Callable[..., AbstractContextManager[ApacheNodes]], tmp_path: Path
) -> None:
    faults = [
        fault
        for fault in FAULTS
        if fault.of_clients and not fault.alone and (version >= "4" or fault.name not in NEEDS_4)
    ]
    settings = dict(SETTINGS)
    for fault in faults:
        settings |= fault.settings
    chance = random.Random(20_734)
    chance.shuffle(faults)
    with apache_running(version, tmp_path / "kafka", settings=settings) as engine:
        outcome = plant_and_diagnose(Site(engine.bootstrap, chance), faults, engine.data_dirs().values)
    assert outcome.found - outcome.expected == set()
    assert outcome.expected - outcome.found == set()
