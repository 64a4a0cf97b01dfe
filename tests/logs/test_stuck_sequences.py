"""Refused sequence numbers until the records expire, and records that a program gives up because its queue is full."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from eosctl.model.incident import Incident
from tests.logs.judging import judge

LINE = "2026-10-02 {} WARN  [net] o.a.k.c.p.internals.Sender - {}\n"
REFUSED = (
    "[Producer clientId=meter-4] Got error produce response with correlation id {} on topic-partition reads-8, "
    "retrying ({} attempts left). Error: OUT_OF_ORDER_SEQUENCE_NUMBER"
)
EXPIRED = (
    "sending failed: org.apache.kafka.common.errors.TimeoutException: Expiring 4 record(s) for reads-8:3001 ms has "
    "passed since batch creation"
)


def refusals(minute: int, count: int) -> str:
    return "".join(LINE.format(f"09:{minute:02}:0{at},000", REFUSED.format(at, 99 - at)) for at in range(count))


def found_in(folder: Path, text: str) -> Sequence[Incident]:
    return judge(folder, {"meter.log": text})


def test_refusals_until_the_records_expire_are_one_fault(tmp_path: Path) -> None:
    parts = [refusals(minute, 5) + LINE.format(f"09:{minute:02}:06,000", EXPIRED) for minute in (1, 20, 45)]
    first = LINE.format("09:00:59,000", EXPIRED)
    (one,) = found_in(tmp_path, first + "".join(parts))
    assert (one.kind, one.subject["topic-partition"]) == ("out_of_order_sequence", "reads-8")
    assert "15 times" in one.explanation and "left the gap" in one.explanation
    assert one.t_end_ms - one.t_start_ms == (44 * 60 + 7) * 1000


def test_a_retry_ends_refusals_without_a_fault(tmp_path: Path) -> None:
    later = "2026-10-02 09:30:00,000 INFO  [main] a.b.Feed - sent 400 reads\n"
    assert found_in(tmp_path, refusals(1, 5) + later) == []


def test_a_full_queue_is_the_cause_of_dropped_records(tmp_path: Path) -> None:
    at = "[2026/10/02 09:00:{:02}] [{}] {}\n"
    text = at.format(1, " info", "[engine] started (pid=1)")
    for second in range(5, 40, 2):
        text += "% Failed to produce to topic reads: Local: Queue full\n"
        text += at.format(second, " warn", "[output:kafka:kafka.0] internal queue is full, retrying in one second")
    given_up = "[engine] chunk '1-1.2.flb' cannot be retried: task_id=3, input=tail.0 > output=kafka.0"
    text += at.format(41, " warn", given_up)
    (one,) = found_in(tmp_path, text)
    assert one.kind == "producer_buffer_full"
    assert "Effect (records_dropped)" in one.explanation


def test_lines_of_programs_are_not_a_part_of_the_record_above(tmp_path: Path) -> None:
    """Fluent Bit prints what librdkafka refused without a time; the wrapper of the container has one."""
    line = '{{"log": "{}\\n", "stream": "stderr", "time": "2026-10-02T09:00:{:02}.250Z"}}\n'
    text = line.format("[2026/10/02 09:00:01] [ info] [sp] stream processor started", 1)
    for second in range(5, 40, 2):
        text += line.format("% Failed to produce to topic reads: Local: Queue full", second)
        warning = f"[2026/10/02 09:00:{second:02}] [ warn] [output:kafka:kafka.0] internal queue is full, retrying"
        text += line.format(warning, second)
    (one,) = found_in(tmp_path, text)
    assert 1 not in {place.line for place in one.evidence}
    assert one.t_start_ms % 60_000 >= 5_000


def test_offsets_that_a_coordinator_did_not_take_in_time(tmp_path: Path) -> None:
    text = (
        "2026-10-02 09:00:00,000 INFO    [feed] start, librdkafka 2.3.0, group=reads-writer topic=reads\n"
        "%5|1790931700.064|REQTMOUT|reads#consumer-1| [thrd:GroupCoordinator]: GroupCoordinator/7: Timed out "
        "OffsetCommitRequest in flight (after 60048ms, timeout #0)\n"
        "2026-10-02 09:20:00,000 INFO    [feed] wrote 512 rows\n"
    )
    (one,) = found_in(tmp_path, text)
    assert one.kind == "consumer_offsets_timeout"
