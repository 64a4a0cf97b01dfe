"""A fault that a program retries with growing waits is one incident; faults apart from each other stay several."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path

import pytest

from eosctl.logs.incidents.timeline.backoffs import in_backoff
from eosctl.model.incident import Incident
from tests.logs.judging import judge

START = datetime(2026, 3, 4, 1, tzinfo=UTC)
DOUBLED = tuple(10 * 2**step for step in range(10))
"""Waits in seconds, up to an hour and a half."""
AT_ITS_MAXIMUM = (20, 60, 180, 540, 1_620, 3_700, 3_400, 3_650)
DEAD = "kafka write failed: Local: Fatal error"
FENCED = "[rdkafka#producer-1] [thrd:main]: Fatal error: Local: This instance has been fenced by a newer instance"
TOO_LARGE = "send to receipts failed: MessageSizeTooLargeError: [Error 10] MessageSizeTooLargeError"
OUT_OF_ORDER = (
    "OutOfOrderSequenceException: The broker received an out of order sequence number for topic-partition receipts-0."
)
DENIED = "TopicAuthorizationException: Not authorized to access topics: [receipts]"


def found(tmp_path: Path, message: str, waits_s: Iterable[int], *, works: bool = False) -> tuple[Incident, ...]:
    """Return the incidents of a program that reports an error after each wait, and works before the last one."""
    moments = [START + timedelta(seconds=passed) for passed in accumulate(waits_s, initial=0)]
    lines = [f"{at:%Y-%m-%d %H:%M:%S} ERROR till: {message}\n" for at in moments]
    if works:
        lines.insert(-1, f"{moments[-2] + timedelta(seconds=5):%Y-%m-%d %H:%M:%S} INFO till: delivered 500 records\n")
    return tuple(judge(tmp_path, {"till.log": "".join(lines)}))


@pytest.mark.parametrize("message", [DEAD, FENCED, TOO_LARGE, OUT_OF_ORDER, DENIED])
@pytest.mark.parametrize("waits_s", [DOUBLED, AT_ITS_MAXIMUM])
def test_growing_waits_are_one_fault(message: str, waits_s: tuple[int, ...], tmp_path: Path) -> None:
    (one,) = found(tmp_path, message, waits_s)
    assert one.t_end_ms - one.t_start_ms == sum(waits_s) * 1_000


def test_work_between_ends_a_fault(tmp_path: Path) -> None:
    assert len(found(tmp_path, DEAD, DOUBLED, works=True)) == 2


def test_faults_at_any_time_stay_several(tmp_path: Path) -> None:
    assert len(found(tmp_path, DEAD, (1_500, 9_000, 1_900, 12_000))) == 5


@pytest.mark.parametrize("pauses_ms", [(), (5_000,), (1_000, 4_000), (3_600_000, 3_600_000, 3_700_000), (0, 0, 0)])
def test_few_or_equal_pauses_are_not_a_backoff(pauses_ms: tuple[int, ...]) -> None:
    assert not any(in_backoff(pauses_ms))


def test_pauses_between_samples_are_not_a_backoff() -> None:
    """The pauses between the samples outside of a slice grow with their distance, as those of a backoff do."""
    assert not any(in_backoff((5_535_000,) * 9 + (4 * 5_535_000,)))
    assert not any(in_backoff(tuple(1_000 * 2**step for step in range(20)))[-7:])
