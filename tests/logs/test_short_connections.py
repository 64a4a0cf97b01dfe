"""Connections that a server ends seconds after each is up: a fault only of a client that does nothing in between."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from eosctl.model.incident import Incident
from eosctl.model.severity import Severity
from tests.logs.judging import judge

LINE = "2025-08-19 21:{minute:02}:{second:02},000 INFO tram.Reader - {words}\n"
END = "%6|{at}.000|FAIL|rdkafka#consumer-2| [thrd:{peer}/bootstrap]: {peer}/0: Disconnected (after {up}ms in {state})"
START_S = 1_755_637_200


def end(up: int, peer: str = "sasl_ssl://hub.example:9093", state: str = "state UP") -> str:
    return END.format(at="{at}", peer=peer, up=up, state=state)


def judged(folder: Path, words: Sequence[str]) -> list[Incident]:
    lines = (
        LINE.format(minute=number // 2, second=number % 2 * 30, words=text.format(at=START_S + 30 * number))
        for number, text in enumerate(words)
    )
    return judge(folder, {"tram.log": "".join(lines)})


def test_connections_that_end_soon_again_and_again(tmp_path: Path) -> None:
    more = "state UP, 6 identical error(s) suppressed"
    (one,) = judged(tmp_path, ["hello", end(4120), end(3990, state=more), end(4055, state=more), end(4300)])
    assert (one.kind, one.severity) == ("connections_cut_short", Severity.WARNING)
    assert one.subject["broker-address"] == "hub.example:9093" and one.subject["client.id"] == "rdkafka#consumer-2"
    assert "after about 4 s" in one.explanation and "16 times" in one.explanation
    assert one.t_end_ms - one.t_start_ms == 90_000


def test_one_client_with_several_brokers_is_one_fault(tmp_path: Path) -> None:
    (one,) = judged(tmp_path, [end(4000), end(4000, peer="hub.example:9094")] * 4)
    assert one.subject["broker-addresses"] == ("hub.example:9093", "hub.example:9094")


@pytest.mark.parametrize(
    "words",
    [
        # Idle, and a single long one.
        [end(240_000)] * 5,
        [end(4000), end(95_000), end(4000), end(4000)],
        # Too few, and each of another broker.
        [end(4000)] * 2,
        [end(4000, peer=f"kb{node}.example:9092") for node in range(5)],
        # It works in between.
        [end(4000), "delivered 12 fares", end(4000), end(4000), end(4000)],
    ],
)
def test_other_ends_of_connections_are_not_this_fault(words: list[str], tmp_path: Path) -> None:
    assert all(one.kind != "connections_cut_short" for one in judged(tmp_path, words))
