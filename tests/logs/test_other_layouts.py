"""One record in the layouts of other loggers, languages, and collectors: time, level, and throwable are the same."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from eosctl.logs.carriers.structured import level_of, parse_pairs, read_entry
from eosctl.logs.layouts import detect_layouts
from eosctl.logs.records.scanner import scan_records
from eosctl.logs.records.sieve import sift_records
from eosctl.logs.scan import scan_paths
from eosctl.logs.timestamps import TimeReference, parse_timestamp
from eosctl.model.log_event import LogEvent

AT_MS = 1795253482658
MESSAGE = "[Producer clientId=p-1, transactionalId=payments-3] Transiting to fatal error state"
TRACE = (
    "org.apache.kafka.common.KafkaException: wrapped\n"
    "\tat com.example.Relay.run(Relay.java:17)\n"
    "Caused by: org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer\n"
    "\tat org.apache.kafka.clients.Sender.run(Sender.java:3)"
)
BOTH = f"{MESSAGE}\n{TRACE}"
LOGGER = "o.a.k.c.p.i.TransactionManager"
TAIL = f"ERROR [main] {LOGGER} - {BOTH}"
ISO = "2026-11-21T09:31:22.658Z"

TEXTS = {
    "day.month.year": f"21.11.2026 09:31:22.658 {TAIL}",
    "day-month-year": f"21-11-2026 09:31:22.658 {TAIL}",
    "day/month/year": f"21/11/2026 09:31:22.658 {TAIL}",
    "month/day/year, half days": f"11/21/2026 9:31:22.658 AM {TAIL}",
    "day month year": f"21 Nov 2026 09:31:22,658 {TAIL}",
    "access log": f"[21/Nov/2026:10:31:22.658 +0100] {TAIL}",
    "digits": f"20261121 09:31:22.658 {TAIL}",
    "slashes": f"2026/11/21 09:31:22.658 {TAIL}",
    "slashes and zone": f"2026/11/21T10:31:22.658+01:00 {TAIL}",
    "pipes": f"2026-11-21 09:31:22.658 | ERROR | main | {LOGGER} | {BOTH}",
    "quarkus": f"2026-11-21 09:31:22,658 ERROR [{LOGGER}] (main) {BOTH}",
    "logfmt": f"time={ISO} level=error logger={LOGGER} msg={json.dumps(BOTH)}",
    "logfmt, err": f"ts={ISO} caller=relay.go:17 level=error msg={json.dumps(MESSAGE)} err={json.dumps(TRACE)}",
    "zap": json.dumps({"level": "error", "ts": AT_MS / 1000, "logger": LOGGER, "msg": MESSAGE, "stacktrace": TRACE}),
    "pino": json.dumps({"level": 50, "time": AT_MS, "msg": MESSAGE, "err": {"type": "X", "stack": TRACE}}),
    "structlog": json.dumps({"event": MESSAGE, "level": "error", "timestamp": ISO, "exception": TRACE}),
    "serilog": json.dumps({"@t": ISO, "@l": "Error", "@m": MESSAGE, "@x": TRACE, "SourceContext": LOGGER}),
    "gelf": json.dumps(
        {"version": "1.1", "short_message": MESSAGE, "full_message": BOTH, "timestamp": AT_MS / 1000, "level": 3}
    ),
    "datadog": json.dumps(
        {"timestamp": ISO, "status": "error", "message": MESSAGE, "logger": {"name": LOGGER}, "error": {"stack": TRACE}}
    ),
    "capitals": json.dumps({"Timestamp": ISO, "Level": "Error", "Message": MESSAGE, "Exception": TRACE}),
    "level between signs": f"--- ERROR --- [{ISO}] {BOTH}",
    "time between signs": f"=== {ISO} ERROR {BOTH}",
    "monolog": f"[{ISO}] payments.ERROR: {BOTH}",
    "month, day, and number of a level": f"[11-21 09:31:22.658] <3> {BOTH}",
    "date and number of a level": f"[2026-11-21 09:31:22.658] <3> {BOTH}",
    "zone by its name": f"2026-11-21 04:31:22,658 EST {TAIL}",
    "ruby": f"E, [2026-11-21T09:31:22.658123 #4711] ERROR -- relay: {BOTH}",
    "stack line by line": json.dumps(
        {"@timestamp": ISO, "level": "ERROR", "message": MESSAGE, "stack_trace": TRACE.split("\n")}
    ),
    "over many lines": json.dumps(
        {"@timestamp": ISO, "level": "ERROR", "message": MESSAGE, "stack_trace": TRACE}, indent=2
    ),
    "nanoseconds": json.dumps({"ts": AT_MS * 10**6, "severity": "ERROR", "message": BOTH}),
    "ecs, nested": json.dumps(
        {
            "@timestamp": ISO,
            "log": {"level": "ERROR", "logger": LOGGER},
            "message": MESSAGE,
            "error": {"stack_trace": TRACE},
        }
    ),
}


def scan(folder: Path, text: str) -> tuple[LogEvent, ...]:
    path = folder / "app.log"
    path.write_text(text + "\n")
    os.utime(path, (AT_MS / 1000 + 60, AT_MS / 1000 + 60))
    return scan_paths([path]).events


@pytest.mark.parametrize("name", TEXTS)
def test_a_fenced_producer_is_read_in_this_layout(name: str, tmp_path: Path) -> None:
    (event,) = scan(tmp_path, TEXTS[name])
    assert event.time_ms == AT_MS
    assert event.level == "ERROR"
    assert event.exception is not None
    assert event.exception.root_class == "org.apache.kafka.common.errors.ProducerFencedException"
    assert event.fields["transactional_id"] == "payments-3"


def test_records_of_go_may_have_a_prefix_before_the_time(tmp_path: Path) -> None:
    refusal = "kafka server: There is a newer producer with the same transactionalId which fences the current one"
    (event,) = scan(
        tmp_path, f"[sarama] 2026/11/21 09:31:22.658000 producer/txnmgr [payments-3] fatal error: {refusal}"
    )
    assert (event.category, event.logger, event.time_ms) == ("PRODUCER_FENCED", "sarama", AT_MS)


def test_dotnet_console_records_have_a_message_on_line_two(tmp_path: Path) -> None:
    text = "info: Relay.Worker[0]\n      all is well\nfail: Relay.Worker[17]\n      it broke\n      at Relay.Run()"
    (event,) = scan(tmp_path, text)
    assert (event.level, event.logger, event.message, event.line) == ("ERROR", "Relay.Worker", "it broke", 3)


def test_dotnet_console_records_have_a_single_line(tmp_path: Path) -> None:
    text = "2026-11-21 09:31:22.658 info: Relay.Worker[0] fine\n2026-11-21 09:31:22.658 fail: Relay[17] it broke\n"
    (event,) = scan(tmp_path, text)
    assert (event.level, event.logger, event.message, event.time_ms) == ("ERROR", "Relay", "it broke", AT_MS)


@pytest.mark.parametrize(
    "text",
    [
        "handlers registered: ProducerFencedExceptionHandler, TimeoutExceptionHandler",
        "customer Fenced Garden Ltd has paid, errors=0 fenced=false",
        "transaction timeout is 60000 ms; retries are left",
        "Kafka's InvalidProducerEpochExceptionMapper and OutOfOrderSequenceExceptionTest are registered",
        "PRODUCER_FENCED_RETRIES=3 ConcurrentTransactionsErrors=0",
    ],
)
def test_messages_of_a_healthy_application_are_irrelevant(text: str, tmp_path: Path) -> None:
    assert scan(tmp_path, f"2026-11-21 09:31:22.658 INFO [main] {LOGGER} - {text}") == ()


def test_java_util_logging_records_have_a_level_on_line_two(tmp_path: Path) -> None:
    for space in (" ", "\u202f"):
        (event,) = scan(tmp_path, f"Nov 21, 2026 9:31:22{space}AM com.example.Relay run\nSEVERE: {BOTH}")
        assert (event.time_ms, event.level, event.logger) == (AT_MS - 658, "ERROR", "com.example.Relay")
        assert event.message == MESSAGE
        assert event.exception is not None


@pytest.mark.parametrize(
    ("text", "shift_ms", "assumed"),
    [
        ("Sat Nov 21 09:31:22 UTC 2026", -658, False),
        ("Sat Nov 21 09:31:22 2026", -658, True),
        ("Nov 21, 2026 9:31:22 PM", 12 * 3_600_000 - 658, True),
        ("21/Nov/2026:09:31:22.658 +0000", 0, False),
        ("2026-11-21 10:31:22.658 CET", 0, False),
        ("21 Nov 2026 01:31:22.658 PST", 0, False),
        ("2026-11-21 10:31:22.658 IST", None, None),
        ("11/12/2026 09:31:22.658", -9 * 86_400_000, True),
        ("12:00:00 PM 2026", None, None),
        ("31/02/2026 10:00:00", None, None),
        ("21.13.2026 10:00:00", None, None),
    ],
)
def test_dates_in_national_forms(text: str, shift_ms: int | None, assumed: bool | None) -> None:
    found = parse_timestamp(text, TimeReference(None, AT_MS))
    assert (None if found is None else (found.ms - AT_MS, found.assumed)) == (
        None if shift_ms is None else (shift_ms, assumed)
    )


@pytest.mark.parametrize("zone", ["", "Z", "+0000"])
def test_a_basic_date_keeps_its_milliseconds_before_a_zone(zone: str, tmp_path: Path) -> None:
    (event,) = scan(tmp_path, f"20261121T093122.658{zone} [main] ERROR {LOGGER} - {BOTH}")
    assert event.time_ms == AT_MS


def test_pairs_keep_what_is_quoted() -> None:
    line = r'time=2026 msg="a \"b\" c=d\nnext" empty= n=1 msg=again'
    assert parse_pairs(line) == {"time": "2026", "msg": 'a "b" c=d\nnext', "empty": "", "n": "1"}


@pytest.mark.parametrize(
    ("text", "level"),
    [("warning", "WARN"), ("SEVERE", "ERROR"), ("50", "ERROR"), ("3", "ERROR"), ("7", "DEBUG"), ("9", "9"), ("", "")],
)
def test_levels_get_log4js_names(text: str, level: str) -> None:
    assert level_of(text) == level


def test_values_of_any_kind_make_no_record_impossible() -> None:
    odd = {"message": ["a"], "level": True, "time": {"x": 1}, "instant": {"epochSecond": "x", "nanoOfSecond": None}}
    assert read_entry(odd).message == ""


@pytest.mark.parametrize(
    "line",
    [
        json.dumps({"level": 50, "time": AT_MS, "msg": "it broke"}),
        json.dumps({"level": 3, "timestamp": AT_MS / 1000, "short_message": "it broke"}),
        json.dumps({"@t": ISO, "@l": "E", "@m": "it broke"}),
        f'ts={ISO} level=crit msg="it broke"',
        "crit: Relay.Worker[0]\n      it broke",
        f"21.11.2026 09:31:22.658 ERROR [main] {LOGGER} - it broke",
    ],
)
def test_the_fast_path_skips_none_of_these(line: str) -> None:
    quiet = line.replace("it broke", "all is well").replace("50", "30").replace('"level": 3', '"level": 6')
    quiet = quiet.replace('"E"', '"I"').replace("crit", "info").replace("ERROR", "INFO ")
    data = "".join(f"{text}\n" for text in (quiet, line, quiet, quiet)).encode()
    verdict = detect_layouts(data)
    messages = [record.message for record in sift_records(data, verdict, small_bytes=0)]
    assert [text.endswith("it broke") for text in (record.message for record in scan_records(data, verdict))][1]
    assert sum(text.endswith("it broke") for text in messages) == 1


def test_the_digit_of_a_level_counts_in_each_record(tmp_path: Path) -> None:
    lines = [f"[11-21 09:31:2{second}.658] <{level}> gate: peer closed" for second, level in enumerate((6, 3, 6, 3, 4))]
    assert [event.line for event in scan(tmp_path, "\n".join(lines))] == [2, 4]


@pytest.mark.parametrize("logger", [" (kafka.server.BrokerServer)", ""])
def test_brackets_at_the_start_of_a_message_remain(tmp_path: Path, logger: str) -> None:
    text = "2026-11-21 09:31:22,658 INFO [BrokerServer id=1] Transition from SHUTDOWN to STARTING"
    (event,) = scan(tmp_path, f"{text}{logger}\n")
    assert (event.category, event.fields["broker"]) == ("BROKER_ROLE", "1")
