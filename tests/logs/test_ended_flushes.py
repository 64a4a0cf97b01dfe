"""A flush that ended before its messages were acknowledged: an incident with an open outcome."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.severity import Severity
from tests.logs.judging import judge

LINE = "2025-02-03 {},000 {} outbox.Relay - {}\n"


@pytest.mark.parametrize(
    "words",
    [
        "flush failed: Local: Timed out",
        "flush returned -185 (Local: Timed out)",
        "rd_kafka_flush failed with RD_KAFKA_RESP_ERR__TIMED_OUT",
    ],
)
def test_an_ended_flush_has_an_open_outcome(words: str, tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"relay.log": LINE.format("04:00:00", "ERROR", words)})
    assert (one.kind, one.severity) == ("flush_timeout", Severity.WARNING)
    assert "Whether they are written is open" in one.explanation


def test_work_after_an_ended_flush_is_reported(tmp_path: Path) -> None:
    text = LINE.format("04:00:00", "ERROR", "flush failed: Local: Timed out")
    (one,) = judge(tmp_path, {"relay.log": text + LINE.format("04:00:30", "INFO", "delivered 12 parcels")})
    assert "continued its work at 2025-02-03T04:00:30.000Z" in one.explanation


@pytest.mark.parametrize(
    "words", ["flushed 185 parcels", "flush ended after 185 ms", "flush failed: Local: Unknown topic"]
)
def test_other_flushes_are_not_ended(words: str, tmp_path: Path) -> None:
    assert all(
        one.kind != "flush_timeout" for one in judge(tmp_path, {"relay.log": LINE.format("04:00:00", "INFO", words)})
    )
