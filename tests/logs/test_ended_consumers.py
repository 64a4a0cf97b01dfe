"""A consumer of KafkaJS that ended with an error, and one that its client started again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eosctl.model.severity import Severity
from tests.logs.judging import judge


def line(clock: str, level: str, message: str) -> str:
    fields = {"level": level, "timestamp": f"2026-02-03T{clock}Z", "logger": "kafkajs", "message": message}
    return json.dumps({**fields, "groupId": "cutters"}) + "\n"


JOINED = "[ConsumerGroup] Consumer has joined the group"
CRASHES = [
    "KafkaJSGroupCoordinatorNotFound: Failed to find group coordinator",
    "KafkaJSNumberOfRetriesExceeded: The group is rebalancing, so a rejoin is needed",
    "KafkaJSNonRetriableError: Cannot read properties of undefined (reading 'id')",
    "TypeError: tile.cut is not a function",
]


@pytest.mark.parametrize("error", CRASHES)
def test_a_consumer_that_does_not_join_again_has_ended(error: str, tmp_path: Path) -> None:
    text = line("09:00:01.000", "INFO", JOINED) + line("09:10:01.000", "ERROR", f"[Consumer] Crash: {error}")
    later = line("10:10:01.000", "INFO", "GET /health 200")
    (one,) = judge(tmp_path, {"cutter.log": text + later})
    assert (one.kind, one.subject["group"]) == ("consumer_ended", "cutters")
    assert error.partition("(")[0].strip() in one.explanation


@pytest.mark.parametrize("error", CRASHES)
def test_a_consumer_that_joins_again_has_recovered(error: str, tmp_path: Path) -> None:
    text = line("09:10:01.000", "ERROR", f"[Consumer] Crash: {error}")
    again = line("09:10:01.300", "ERROR", "[Consumer] Restarting the consumer in 300ms") + line(
        "09:10:04.000", "INFO", JOINED
    )
    (one,) = judge(tmp_path, {"cutter.log": text + again})
    assert (one.kind, one.severity) == ("consumer_ended", Severity.WARNING)
    assert "A member rejoined at 2026-02-03T09:10:04.000Z (" in one.explanation
    assert "No record shows" not in one.explanation


def test_another_group_does_not_join_for_it(tmp_path: Path) -> None:
    text = line("09:10:01.000", "ERROR", f"[Consumer] Crash: {CRASHES[0]}")
    other = line("09:10:04.000", "INFO", JOINED).replace("cutters", "painters")
    (one,) = judge(tmp_path, {"cutter.log": text + other})
    assert one.kind == "consumer_ended"


def test_a_refused_group_keeps_its_own_cause(tmp_path: Path) -> None:
    text = line(
        "09:10:01.000",
        "ERROR",
        "[Consumer] Crash: KafkaJSProtocolError: Not authorized to access group: Group authorization failed",
    )
    (one,) = judge(tmp_path, {"cutter.log": text})
    assert one.kind != "consumer_ended"
