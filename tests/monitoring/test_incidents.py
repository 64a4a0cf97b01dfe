"""The rules on recordings of real brokers and clients: silent over healthy load, and correct for each fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.monitoring.incidents import INCIDENTS, VERSION
from tests.monitoring.promtool import Moment, prove_moments, requires_promtool
from tests.monitoring.series import FIXTURES, recorded

pytestmark = requires_promtool


def test_every_recording_is_replayed() -> None:
    assert {path.name.removesuffix(f"-{VERSION}.json.gz") for path in FIXTURES.glob("*.json.gz")} == set(INCIDENTS)


@pytest.mark.parametrize("name", INCIDENTS)
def test_the_right_alerts_fire(name: str, tmp_path: Path) -> None:
    recording, moments = recorded(f"{name}-{VERSION}"), INCIDENTS[name].moments
    assert recording["count"] * recording["scrape_interval_s"] >= max(moments) * 60
    done = prove_moments([Moment(recording["series"], at, firing) for at, firing in moments.items()], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
