"""Records nested in JSON: found by their shape, under any names of their parts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eosctl.logs.carriers.nesting import flattened
from eosctl.logs.carriers.structured import read_entry
from eosctl.logs.incidents.judge import judge_incidents
from eosctl.logs.scan import scan_paths

TIMES = ("2026-11-21T09:31:20.100Z", "2026-11-21T09:31:22.500Z")
TRACE = (
    "org.apache.kafka.common.errors.RecordTooLargeException: The message is 2097240 bytes when serialized which is "
    "larger than 1048576, which is the value of the max.request.size configuration.\n\tat a.b.C(X.java:1)"
)
RECORDS = (
    {"level": "INFO", "message": "[Producer clientId=a, transactionalId=pay-1] ProducerId set to 3 with epoch 0"},
    {"level": "ERROR", "logger": "a.Pay", "message": "commit failed", "stack_trace": TRACE},
)
Values = dict[str, Any]
SHAPES: dict[str, Callable[[Values, str], Values]] = {
    "event": lambda record, time: {"event": {"timestamp": time, **record}},
    "an unknown name, with others": lambda record, time: {"v": 1, "host": {"name": "h-1"}, "x": {"ts": time, **record}},
    "time outside": lambda record, time: {"created": time, "log": record},
    "time and level outside": lambda record, time: {"when": time, "lvl": record["level"], "data": record},
    "head and body": lambda record, time: {
        "head": {"ts": time, "sev": record["level"]},
        "body": {"msg": record["message"], "trouble": record.get("stack_trace")},
    },
    "two levels": lambda record, time: {"data": {"event": {"time": time, **record}}},
    "unknown names": lambda record, time: {
        "emittedAt": time,
        "rank": record["level"],
        "said": record["message"],
        "more": {"lines": record.get("stack_trace", "").split("\n")},
    },
    "JSON in a message": lambda record, time: {"time": time, "event": json.dumps({"ts": time, **record})},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_record_is_read_at_any_level(shape: str, tmp_path: Path) -> None:
    lines = (json.dumps(SHAPES[shape](record, time)) for record, time in zip(RECORDS, TIMES, strict=True))
    (tmp_path / "pay.log").write_text("".join(f"{line}\n" for line in lines))
    scan = scan_paths([tmp_path])
    assert [(event.time_ms, event.category) for event in scan.events] == [
        (1795253480100, "INIT_PRODUCER_ID"),
        (1795253482500, "RECORD_TOO_LARGE"),
    ]
    assert [event.level for event in scan.events] == ["INFO", "ERROR"]
    (found,) = judge_incidents(scan.events, scan.sources)
    assert (found.root_cause, found.subject["transactional.id"]) == ("record-above-client-limit", "pay-1")


def test_top_level_values_take_precedence_over_nested_ones() -> None:
    values = {"@timestamp": TIMES[0], "level": "INFO", "message": "m", "event": {"message": "n", "level": "ERROR"}}
    assert flattened(values, ("message",), ("@timestamp",), ("level",)) is values


def test_the_message_of_a_failure_is_not_the_records() -> None:
    entry = read_entry({"ts": TIMES[0], "error": {"message": "no"}, "note": {"text": "cannot go on", "level": "WARN"}})
    assert (entry.message, entry.level) == ("cannot go on", "WARN")


def test_a_number_is_a_time_only_under_a_name_of_a_time() -> None:
    assert read_entry({"offset": 1795253480, "message": "m"}).time == ""
    assert read_entry({"loggedAt": 1795253480, "message": "m"}).time == "1795253480"
