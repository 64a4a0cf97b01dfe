"""Prefixes that a tool prints before the first line of a record only, and clocks behind a date of a wrapper."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from eosctl.logs.scan import scan_paths
from tests.logs.judging import judge

FENCED = "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer"
TRACE = (FENCED, "\tat a.b.Loop.run(Loop.java:7)", "Caused by: java.lang.IllegalStateException: gone", "\tat a.b.C(D)")


def lines_of(first: str, again: str) -> str:
    """Return two records of a failed step, the first lines with one prefix and the others with another."""
    heads = (f"2025-08-05 19:44:0{second},551 ERROR [main] a.b.Loop - step failed" for second in (2, 9))
    records = ((first + head, *(again + line for line in TRACE)) for head in heads)
    return "".join(f"{line}\n" for record in records for line in record)


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("shop-1     | ", "           | "),
        ("shop-1     | ", ""),
        ('{pod="shop-1",stream="stdout"} ', ""),
        ('{pod="shop-1",stream="stdout"} ', '{pod="shop-1",stream="stdout"} '),
        ("[pod/shop-1/app] ", ""),
    ],
)
def test_a_prefix_may_stand_before_first_lines_only(tmp_path: Path, first: str, again: str) -> None:
    (tmp_path / "pasted.txt").write_text(lines_of(first, again))
    events = scan_paths([tmp_path]).events
    assert [(event.category, event.application, event.line) for event in events] == [
        ("PRODUCER_FENCED", "shop-1", 1),
        ("PRODUCER_FENCED", "shop-1", 6),
    ]
    assert [event.exception.root_class for event in events if event.exception] == [
        "java.lang.IllegalStateException"
    ] * 2
    times = [datetime.fromtimestamp((event.time_ms or 0) / 1000, UTC) for event in events]
    assert [time.isoformat(timespec="milliseconds")[:23] for time in times] == [
        "2025-08-05T19:44:02.551",
        "2025-08-05T19:44:09.551",
    ]


def test_text_with_pipes_is_not_a_log_of_containers(tmp_path: Path) -> None:
    table = "name | value\n     | other\nx | 2025-08-05\n" * 9
    (tmp_path / "notes.txt").write_text(table + lines_of("", ""))
    assert [source.layout for source in scan_paths([tmp_path]).sources] == ["logback-level-thread"]


def test_a_clock_is_completed_by_the_day_of_syslog(tmp_path: Path) -> None:
    lock = "Unable to obtain lock as state directory is already locked by another process"
    head = "09:30:11.930 [main] ERROR org.apache.kafka.streams.processor.internals.StateDirectory"
    stamps = ("Jan 21 09:30:11", "Jan 22 09:30:11")
    text = "".join(f"{stamp} batch02 docker[1402]: {head} - {lock}\n" for stamp in stamps)
    (first,) = {one.t_start_ms for one in judge(tmp_path, {"journal.txt": text})[:1]}
    assert (datetime.fromtimestamp(first / 1000, UTC).month, datetime.fromtimestamp(first / 1000, UTC).day) == (1, 21)
