"""A broker that did not answer a client's writes once, and whose client worked again, is one warning."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from eosctl.model.incident import Incident
from eosctl.model.severity import Severity
from tests.logs.judging import judge

PEER = "ssl://kb-7.dock.example:9093/7"
THREAD = f"[thrd:{PEER}]: {PEER}:"
IN_FLIGHT = f"{THREAD} Timed out {{}} in flight (after 30034ms, timeout #0)"
ENDED = f"{THREAD} 2 request(s) timed out: disconnect (after 122807ms in state UP)"
PLAIN = "%{level}|{at}.001|{kind}|rdkafka#producer-1| {text}\n"
SERILOG = "[2026-03-04 10:{minute:02}:{second:02} {name}] rdkafka#producer-1: {kind} - {text}\n"
START_S = 1_772_618_400


def line(form: str, second: int, kind: str, text: str) -> str:
    level, name = (3, "ERROR") if kind == "FAIL" else (5, "INFO")
    return form.format(
        level=level, name=name, at=START_S + second, minute=second // 60, second=second % 60, kind=kind, text=text
    )


def judged(folder: Path, form: str, *later: str, request: str = "ProduceRequest") -> Sequence[Incident]:
    text = line(form, 30, "REQTMOUT", IN_FLIGHT.format(request)) + line(form, 30, "FAIL", ENDED)
    return judge(folder, {"dock.log": text + "".join(later)})


WORKED = "2026-03-04 10:00:33 INFO dock.Main delivered 1203 records to dock.scans\n"
IDLE = "2026-03-04 10:00:33 INFO dock.Main delivered 0 records to dock.scans\n"


@pytest.mark.parametrize("form", [PLAIN, SERILOG])
def test_one_timeout_with_work_after_it_is_a_warning(form: str, tmp_path: Path) -> None:
    (one,) = judged(tmp_path, form, WORKED)
    assert (one.kind, one.severity) == ("requests_timed_out", Severity.WARNING)
    assert (one.subject["broker"], one.subject["broker-address"]) == ("7", "kb-7.dock.example:9093")
    assert "2 requests" in one.explanation and "worked again at 2026-03-04T10:00:33.000Z" in one.explanation


@pytest.mark.parametrize("later", ["", IDLE])
def test_one_timeout_without_work_is_not_overcome(later: str, tmp_path: Path) -> None:
    assert all("worked again" not in one.explanation for one in judged(tmp_path, PLAIN, later))


def test_a_read_that_timed_out_is_retried_silently(tmp_path: Path) -> None:
    assert not judged(tmp_path, PLAIN, WORKED, request="FetchRequest")
