"""The rules on recordings of a real broker: silent over ten minutes of healthy load, right about an incident.

`record_incident` made them; in the incident a transaction hangs under load, two instances share a transactional id, a
producer begins its transactions right behind each other (15 % of its requests are too early: below the limit), and
another one's batches come late.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.monitoring.promtool import Moment, prove_moments, requires_promtool

pytestmark = requires_promtool

FIXTURES = Path(__file__).parents[1] / "fixtures" / "metrics"


def recorded(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress((FIXTURES / f"{name}.json.gz").read_bytes()))
    return found


#: Recording, minutes from its start, and which alerts fire then: these and no other.
MOMENTS = [
    ("healthy-4.3.1", 5, set()),
    ("healthy-4.3.1", 10, set()),
    # The oldest open transaction is a minute of traffic behind after a minute, and stays so for three.
    ("incident-4.3.1", 1, set()),
    ("incident-4.3.1", 6, {"EosHangingTransaction", "EosLastStableOffsetStalled", "EosFencingStorm"}),
    (
        "incident-4.3.1",
        17,
        {
            "EosHangingTransaction",
            "EosLastStableOffsetStalled",
            "EosLateTransactions",
            "EosFencingStorm",
            "EosVerificationFailures",
        },
    ),
]


@pytest.mark.parametrize(("name", "minutes", "firing"), MOMENTS)
def test_the_right_alerts_fire(name: str, minutes: float, firing: set[str], tmp_path: Path) -> None:
    recording = recorded(name)
    assert recording["count"] * recording["scrape_interval_s"] >= minutes * 60
    done = prove_moments([Moment(recording["series"], minutes, frozenset(firing))], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
