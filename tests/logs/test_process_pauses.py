"""Watches in a process that notice its pause: the proof that a transaction timed out while it stood still."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

FENCED = (
    "2026-02-03 09:10:02,000 ERROR [main] com.example.Cutter - [Producer clientId=cut-7, transactionalId=cut-tx-7] "
    "refused: org.apache.kafka.common.errors.InvalidTxnStateException: The producer attempted a transactional "
    "operation in an invalid state.\n"
)
PAUSED = "2026-02-03 09:10:01,000 WARN [pool] com.example.Watch - {}\n"
WATCHES = {
    "seconds": "pool-1 - Thread starvation or clock leap detected (housekeeper delta=51s904ms112µs7ns).",
    "minutes": "pool-1 - Thread starvation or clock leap detected (housekeeper delta=2m3s104ms).",
    "jvm": "Detected pause in JVM or host machine (eg GC): pause of approximately 73012ms",
}


@pytest.mark.parametrize("watch", WATCHES)
def test_a_watch_shows_the_pause(watch: str, tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"cutter.log": PAUSED.format(WATCHES[watch]) + FENCED})
    assert (one.kind, one.confidence) == ("transaction_timeout", 0.75)
    assert "stood still for" in one.explanation


def test_a_short_pause_shows_nothing(tmp_path: Path) -> None:
    text = WATCHES["jvm"].replace("73012", "1201")
    (one,) = judge(tmp_path, {"cutter.log": PAUSED.format(text) + FENCED})
    assert "stood still" not in one.explanation
