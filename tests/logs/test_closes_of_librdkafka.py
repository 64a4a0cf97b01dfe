"""Old librdkafka logs the close of an idle connection as two errors; acknowledgements show that it is overcome."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.logs.incidents.remaining.spans import without_copies
from eosctl.logs.scan import scan_paths
from eosctl.model.severity import Severity
from tests.logs.judging import judge

DONE = "2026-02-18 {},100 INFO meter: flushed 1 reading to kafka, all acknowledged\n"
LINE = "%3|{}.118|{}|rdkafka#producer-1| [thrd:k1.plant:9092/bootstrap]: k1.plant:9092/1: {}\n"
TIMED_OUT = "2026-02-18 02:20:01,100 ERROR meter: delivery failed: Local: Message timed out (_MSG_TIMED_OUT)\n"


def close(seconds: int, words: str) -> str:
    return LINE.format(seconds, "FAIL", words) + LINE.format(seconds, "ERROR", words)


@pytest.mark.parametrize(
    "words", ["Receive failed: Disconnected", "Receive failed: Connection reset by peer", "Send failed: Broken pipe"]
)
def test_closes_between_acknowledgements_do_not_matter(words: str, tmp_path: Path) -> None:
    text = DONE.format("02:00:01") + close(1771380604, words) + DONE.format("02:15:01") + close(1771381506, words)
    assert not judge(tmp_path, {"meter.log": text + close(1771382409, words) + DONE.format("02:45:01")})


def test_closes_do_not_hide_messages_that_time_out(tmp_path: Path) -> None:
    text = DONE.format("02:00:01") + close(1771380604, "Receive failed: Disconnected") + TIMED_OUT
    (one,) = judge(tmp_path, {"meter.log": text})
    assert (one.kind, one.severity) == ("send_timeout", Severity.ERROR)


def test_both_lines_of_a_close_count_once(tmp_path: Path) -> None:
    (tmp_path / "meter.log").write_text(close(1771380604, "Disconnected (after 9ms in state UP)") * 1)
    events = scan_paths([tmp_path]).events
    assert len(events) == 2 and len(list(without_copies(events))) == 1


OLD = "%3|{}.118|{}|rdkafka#producer-0| {}: {}\n"
"""librdkafka before 1.0 names no thread; a broker without an id is the bootstrap one."""


@pytest.mark.parametrize(
    ("peer", "words", "address"),
    [
        ("k1.plant:9092/bootstrap", "Receive failed: Disconnected", "k1.plant:9092"),
        ("k1.plant:9092/bootstrap", "Send failed: Broken pipe", "k1.plant:9092"),
        ("k1.plant:9092/bootstrap", "3 request(s) timed out: disconnect", "k1.plant:9092"),
        ("sasl_ssl://k1.plant:9093/4", "Receive failed: Connection timed out", "k1.plant:9093"),
        ("k1.plant:9092/4", "Connection closed", "k1.plant:9092"),
        ("k1.plant:9092/bootstrap", "Disconnected", "k1.plant:9092"),
    ],
)
def test_lines_of_releases_before_1_are_known(peer: str, words: str, address: str, tmp_path: Path) -> None:
    (tmp_path / "meterd.out").write_text(OLD.format(1470118220, "FAIL", peer, words))
    (event,) = scan_paths([tmp_path]).events
    assert (event.category, event.fields["peer"]) == ("NETWORK_DISCONNECT", address)


@pytest.mark.parametrize("carrier", ["{}", "2016-08-02T06:10:20Z meter-7 meterd[812]: {}"])
def test_old_closes_of_idle_connections_do_not_matter(carrier: str, tmp_path: Path) -> None:
    text = ""
    for turn in range(3):
        text += f"2016-08-02 0{6 + turn}:07:20 [meterd] window closed: produced=5012 delivered=5012 failed=0\n"
        for kind in ("FAIL", "ERROR"):
            line = OLD.format(1470118220 + 3600 * turn, kind, "k1.plant:9092/bootstrap", "Receive failed: Disconnected")
            text += f"{carrier.format(line.strip())}\n"
    assert not judge(tmp_path, {"meterd.out": text})


def test_an_old_login_that_failed_is_one(tmp_path: Path) -> None:
    line = OLD.format(
        1470118220, "FAIL", "k1.plant:9092/bootstrap", "SASL authentication failure: Authentication failed"
    )
    (one,) = judge(tmp_path, {"meterd.out": line * 3})
    assert one.kind == "authentication_failed"
