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
