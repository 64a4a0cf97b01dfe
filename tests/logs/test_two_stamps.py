"""A collector's timestamp and a bar before each line, also before the lines of an exception."""

from __future__ import annotations

from pathlib import Path

from tests.logs.judging import judge

LINE = "2026-02-16T11:47:{}0+01:00 | {}\n"
CLOCK = "10:47:{} [kafka-admin-client-thread | adminclient-1] ERROR com.example.KafkaService - {}"
DENIED = (
    "org.apache.kafka.common.errors.SaslAuthenticationException: [783b3500-7435-4f17-a929-c6ea028bb246]: Access denied"
)


def test_both_stamps_are_read(tmp_path: Path) -> None:
    text = "".join(
        LINE.format(moment, CLOCK.format(moment, "Failed to collect cluster info")) + LINE.format(moment, DENIED)
        for moment in ("10.97", "25.14")
    )
    (one,) = judge(tmp_path, {"ui.log": text})
    assert (one.kind, one.root_cause) == ("authentication_failed", "permission-to-connect-missing")
    assert one.subject["application"] == "ui"
    assert one.t_end_ms - one.t_start_ms == 14_170
