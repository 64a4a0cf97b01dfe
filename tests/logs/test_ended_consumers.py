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


REFUSED = "[Connection] Connection error: connect ECONNREFUSED 10.1.2.3:9092"
RETRIED = "KafkaJSNumberOfRetriesExceeded: Connection error: connect ECONNREFUSED 10.1.2.3:9092"


@pytest.mark.parametrize("error", [CRASHES[0], CRASHES[3]])
def test_the_last_crash_names_the_cause(error: str, tmp_path: Path) -> None:
    text = "".join(line(f"09:10:0{second}.000", "ERROR", REFUSED) for second in range(3))
    text += line("09:10:04.000", "ERROR", f"[Consumer] Crash: {RETRIED}")
    text += line("09:10:04.100", "ERROR", "[Consumer] Restarting the consumer in 300ms")
    text += line("09:10:09.000", "ERROR", f"[Consumer] Crash: {error}")
    (one,) = judge(tmp_path, {"cutter.log": text})
    assert (one.kind, one.root_cause) == ("consumer_ended", "error-that-is-not-retried")
    assert one.explanation.startswith("The consumer of cutters ended with an error")
    assert f"Its last cause: {error}" in one.explanation
    assert "Before that, the client could not connect to 10.1.2.3:9092 from 2026-02-03T09:10:00.000Z" in one.explanation
    assert "restart the process" in one.next_step


def test_a_last_crash_by_a_connection_stays_its_cause(tmp_path: Path) -> None:
    text = "".join(line(f"09:10:0{second}.000", "ERROR", REFUSED) for second in range(3))
    text += line("09:10:04.000", "ERROR", f"[Consumer] Crash: {CRASHES[0]}")
    text += line("09:10:09.000", "ERROR", f"[Consumer] Crash: {RETRIED}")
    (one,) = judge(tmp_path, {"cutter.log": text})
    assert (one.kind, one.root_cause) == ("consumer_ended", "brokers-not-reached")
    assert f"Its last cause: {RETRIED}" in one.explanation


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


REFUSALS = [
    "kafka server: The coordinator is still loading offsets and cannot currently process requests",
    "kafka server: Request was for a consumer group that is not coordinated by this broker",
    "kafka server: Offset's topic has not yet been created",
]
FOUND = "[sarama] 2026/02/03 09:{} client/coordinator coordinator for {} is #2 (kb-2:9092)\n"
ADDED = "[sarama] 2026/02/03 09:{} consumer/broker/2 added subscription to tiles/0\n"


@pytest.mark.parametrize("words", ["Error from consumer: {}", "tiler: Consume: {}; stopping", "consumer error: {}"])
@pytest.mark.parametrize("error", REFUSALS)
def test_a_session_of_sarama_that_is_not_begun_again(words: str, error: str, tmp_path: Path) -> None:
    text = FOUND.format("00:01", "tilers") + ADDED.format("00:02")
    text += f"2026/02/03 09:10:00 {words.format(error)}\n2026/02/03 10:10:00 0 tiles in the last minute\n"
    (one,) = judge(tmp_path, {"tiler.log": text})
    assert (one.kind, one.severity, one.subject["group"]) == ("consumer_ended", Severity.ERROR, "tilers")
    assert error in one.explanation
    assert "No record shows that it joined its group again" in one.explanation


@pytest.mark.parametrize("error", REFUSALS)
def test_a_session_of_sarama_that_begins_again(error: str, tmp_path: Path) -> None:
    text = FOUND.format("00:01", "consumergroup tilers") + f"2026/02/03 09:10:00 Error from consumer: {error}\n"
    text += FOUND.format("10:02", "consumergroup tilers") + ADDED.format("10:05")
    (one,) = judge(tmp_path, {"tiler.log": text})
    assert (one.kind, one.severity, one.subject["group"]) == ("consumer_ended", Severity.WARNING, "tilers")
    assert "A member rejoined at 2026-02-03T09:10:05.000Z" in one.explanation


def test_an_attempt_of_sarama_itself_ends_nothing(tmp_path: Path) -> None:
    text = f"[sarama] 2026/02/03 09:10:00 {REFUSALS[1]}\n" + FOUND.format("10:02", "tilers") + ADDED.format("10:05")
    assert judge(tmp_path, {"tiler.log": text}) == []
