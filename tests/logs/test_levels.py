"""The level of a record: its names in many carriers, its places in a message, and what decides without one."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from eosctl.logs.levels import find_level, is_level, level_of, level_of_number, names_level
from eosctl.logs.scan import scan_paths
from eosctl.model.log_event import LogEvent

FAILED: Final = "could not store order 17 of kafka topic orders: giving up"
LOST: Final = (
    "[AdminClient clientId=a] Connection to node 1 (/10.0.0.1:9092) could not be established. "
    "Node may not be available."
)
RECORDS: Final = (("INFO", "Subscribed to topic(s): orders"), ("ERROR", FAILED), ("WARN", LOST))
EPOCH_NS: Final = 1_788_605_760_000_000_000
SYSLOG: Final = {"INFO": 6, "ERROR": 3, "WARN": 4}


def at(number: int) -> str:
    return f"2026-09-05T10:56:0{number}Z"


def lines(write: Callable[[int, str, str], str]) -> str:
    return "".join(f"{write(number, level, text)}\n" for number, (level, text) in enumerate(RECORDS))


def objects(write: Callable[[int, str, str], Mapping[str, object]]) -> str:
    return lines(lambda number, level, text: json.dumps(write(number, level, text)))


def table(columns: tuple[str, ...], write: Callable[[int, str, str], tuple[object, ...]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows(write(number, level, message) for number, (level, message) in enumerate(RECORDS))
    return text.getvalue()


def telemetry(number_of: Mapping[str, object]) -> str:
    records = [
        {"timeUnixNano": str(EPOCH_NS + number), "severityNumber": number_of[level], "body": {"stringValue": text}}
        for number, (level, text) in enumerate(RECORDS)
    ]
    return json.dumps({"resourceLogs": [{"scopeLogs": [{"scope": {"name": "x"}, "logRecords": records}]}]})


def streams(label: str) -> str:
    found = [
        {"stream": {"app": "feed", label: level.lower()}, "values": [[str(EPOCH_NS + number), text]]}
        for number, (level, text) in enumerate(RECORDS)
    ]
    return json.dumps({"status": "success", "data": {"resultType": "streams", "result": found}})


def named(**names: str) -> Callable[[str], str]:
    return lambda level: names.get(level, level)


SHORT: Final = named(ERROR="ERR", WARN="WRN", INFO="INF")
SPELLED: Final = named(ERROR="Error", WARN="Warning", INFO="Information")
CARRIERS: Final = {
    "gcp-array.json": json.dumps(
        [
            {"severity": level, "timestamp": at(number), "textPayload": text, "logName": "x"}
            for number, (level, text) in enumerate(RECORDS)
        ]
    ),
    "otel-number.json": telemetry({"INFO": 9, "ERROR": 17, "WARN": 13}),
    "otel-name.json": telemetry({level: f"SEVERITY_NUMBER_{level}" for level in SYSLOG}),
    "otel.log": objects(
        lambda n, level, text: {
            "timestamp": at(n),
            "severityNumber": {"INFO": 9, "ERROR": 18}.get(level, 13),
            "body": text,
        }
    ),
    "log15.log": lines(
        lambda n, level, text: f't={at(n)} lvl={ {"ERROR": "eror"}.get(level, level.lower()) } msg="{text}"'
    ),
    "letter-first.log": lines(lambda n, level, text: f"[{level[0]}] {at(n)} {text}"),
    "letter-behind.log": lines(lambda n, level, text: f"{at(n)} [{level[0]}] {text}"),
    "letter-alone.log": lines(lambda n, level, text: f"{at(n)} {level[0]} {text}"),
    "android.log": lines(lambda n, level, text: f"2026-09-05 10:56:0{n}.000 {level[0]}/feed: {text}"),
    "serilog.log": lines(lambda n, level, text: f"[10:56:0{n} {SHORT(level)}] {text}"),
    "syslog-priority.log": lines(lambda n, level, text: f"<{8 + SYSLOG[level]}>Sep  5 10:56:0{n} h feed[1]: {text}"),
    "syslog-5424.log": lines(lambda n, level, text: f"<{8 + SYSLOG[level]}>1 {at(n)} h feed 12 - - {text}"),
    "syslog-word.log": lines(lambda n, level, text: f"Sep  5 10:56:0{n} h feed[12]: {level}: {text}"),
    "journal.log": objects(
        lambda n, level, text: {
            "__REALTIME_TIMESTAMP": str(EPOCH_NS // 1000 + n),
            "PRIORITY": str(SYSLOG[level]),
            "MESSAGE": text,
        }
    ),
    "journal.export": "".join(
        f"__CURSOR=s={n}\n__REALTIME_TIMESTAMP={EPOCH_NS // 1000 + n}\nPRIORITY={SYSLOG[level]}\nMESSAGE={text}\n\n"
        for n, (level, text) in enumerate(RECORDS)
    ),
    "first-word.csv": table(("@timestamp", "pod", "message"), lambda n, level, text: (at(n), "p", f"{level} {text}")),
    "lvl.csv": table(("time", "lvl", "message"), lambda n, level, text: (at(n), level, text)),
    "log-level.csv": table(("timestamp", "log_level", "message"), lambda n, level, text: (at(n), level, text)),
    "azure.csv": table(
        ("timestamp [UTC]", "message", "severityLevel"),
        lambda n, level, text: (at(n), text, {"INFO": 1, "WARN": 2, "ERROR": 3}[level]),
    ),
    "fields.csv": table(("@timestamp", "fields.level", "message"), lambda n, level, text: (at(n), level, text)),
    "syslog.csv": table(
        ("timestamp", "syslog.severity.code", "message"), lambda n, level, text: (at(n), SYSLOG[level], text)
    ),
    "type.csv": table(("Timestamp", "Type", "Message"), lambda n, level, text: (at(n), SPELLED(level), text)),
    "windows.csv": table(
        ("Level", "Date and Time", "Source", "Message"),
        lambda n, level, text: (SPELLED(level), f"9/5/2026 10:56:0{n} AM", "feed", text),
    ),
    "german.csv": table(
        ("Timestamp", "Level", "Message"),
        lambda n, level, text: (at(n), named(ERROR="Fehler", WARN="Warnung")(level), text),
    ),
    "chinese.log": objects(
        lambda n, level, text: {
            "time": at(n),
            "level": named(ERROR="错误", WARN="警告", INFO="信息")(level),
            "message": text,
        }
    ),
    "spanish.log": objects(
        lambda n, level, text: {"time": at(n), "level": named(WARN="advertencia")(level), "message": text}
    ),
    "loki.json": streams("detected_level"),
    "elastic.json": json.dumps(
        {
            "hits": {
                "hits": [
                    {
                        "_source": {
                            "@timestamp": at(n),
                            "log": {"syslog": {"severity": {"code": SYSLOG[level]}}},
                            "message": text,
                        }
                    }
                    for n, (level, text) in enumerate(RECORDS)
                ]
            }
        }
    ),
    "insights.json": json.dumps(
        {
            "results": [
                [
                    {"field": "@timestamp", "value": f"2026-09-05 10:56:0{n}"},
                    {"field": "@message", "value": f"{level} {text}"},
                ]
                for n, (level, text) in enumerate(RECORDS)
            ]
        }
    ),
    "fluent-bit.log": objects(
        lambda n, level, text: {"date": 1788605760.0 + n, "log": f"{level} {text}\n", "stream": "stderr"}
    ),
    "python.log": objects(
        lambda n, level, text: {"asctime": at(n), "levelno": {"INFO": 20, "ERROR": 40}.get(level, 30), "message": text}
    ),
    "logback.log": objects(
        lambda n, level, text: {
            "@timestamp": at(n),
            "level_value": {"INFO": 20000, "ERROR": 40000}.get(level, 30000),
            "message": text,
        }
    ),
    "monolog.log": objects(
        lambda n, level, text: {
            "datetime": at(n),
            "level": {"INFO": 200, "ERROR": 400}.get(level, 300),
            "message": text,
        }
    ),
    "nested.log": objects(lambda n, level, text: {"time": at(n), "level": {"name": level, "value": 9}, "msg": text}),
    "tags.log": objects(lambda n, level, text: {"time": at(n), "tags": [level.lower(), "kafka"], "msg": text}),
    "librdkafka.log": objects(
        lambda n, level, text: {
            "time": at(n),
            "message": f"%{SYSLOG[level]}|178.0|FAIL|rdkafka#producer-1| [thrd:x]: {text}",
        }
    ),
    "words.log": lines(lambda n, level, text: f"{level}: {text}"),
    "kubernetes.log": lines(lambda n, level, text: f"2026-09-05T10:56:0{n}.000000000Z stderr F {level} {text}"),
    "glog.log": lines(lambda n, level, text: f"{level[0]}20260905 10:56:0{n}.000000 12 feed.cc:12] {text}"),
    "mysql.log": lines(lambda n, level, text: f"{at(n)} 12 [{named(WARN='Warning', INFO='Note')(level)}] {text}"),
}
"""The same three records, with their levels as many loggers, collectors, and stores write them."""


def events_of(path: Path) -> Mapping[str, LogEvent]:
    found = scan_paths([path]).events
    return {text: event for text in (FAILED, LOST) for event in found if text in event.message}


@pytest.mark.parametrize("name", CARRIERS)
def test_a_level_is_read_in_every_carrier(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(CARRIERS[name])
    found = events_of(tmp_path / name)
    assert {text: event.level for text, event in found.items()} == {FAILED: "ERROR", LOST: "WARN"}


@pytest.mark.parametrize(
    ("message", "level"),
    [
        ("FAIL [rdkafka#producer-1] [thrd:x]: broker: Connect failed", "ERROR"),
        ("FAIL [feed#rdkafka#consumer-2] [thrd:x]: b:9092/2: Disconnected (after 600000ms in state UP)", ""),
        ("ERROR feed.kafka callback: KafkaError{code=_ALL_BROKERS_DOWN}", "ERROR"),
        ("2026-09-05 10:56:01,123 WARN  late", "WARN"),
        ("<3>cannot write", "ERROR"),
        ("<30>started", "INFO"),
        ("feed level=warning late", "WARN"),
        ("[error] cannot write", "ERROR"),
        ("I could not write", ""),
        ("an ERROR came", ""),
        ("Error: connect ECONNREFUSED", ""),
        ("[kafka] WARN of something", ""),
        ("", ""),
    ],
)
def test_a_level_is_found_at_the_beginning(message: str, level: str) -> None:
    assert find_level(message).level == level


def test_the_level_of_a_whole_line_is_that_of_its_program(tmp_path: Path) -> None:
    line = json.dumps({"time": at(1), "level": "info", "msg": f"2026-09-05 10:56:01 ERROR {FAILED}"})
    (tmp_path / "feed.log").write_text(f"{line}\n")
    assert events_of(tmp_path / "feed.log")[FAILED].level == "ERROR"


def test_the_status_of_a_request_is_not_a_level(tmp_path: Path) -> None:
    (tmp_path / "feed.log").write_text(json.dumps({"time": at(1), "status": 500, "msg": LOST}) + "\n")
    assert events_of(tmp_path / "feed.log")[LOST].level == ""


@pytest.mark.parametrize(
    ("name", "value", "level"),
    [
        *(("severityNumber", "17", "ERROR"), ("severityNumber", "24", "FATAL"), ("severityNumber", "25", "")),
        *(("levelno", "30", "WARN"), ("level_value", "40000", "ERROR"), ("severityLevel", "2", "WARN")),
        *(("severity.code", "3", "ERROR"), ("severity.code", "9", ""), ("severityNumber", "x", "")),
    ],
)
def test_each_number_has_its_own_scale(name: str, value: str, level: str) -> None:
    assert level_of_number(name, value) == level


def test_words_that_are_also_others_need_a_name() -> None:
    assert level_of("log") == "INFO"
    assert not any(map(is_level, ("log", "fail", "config", "ok", "orders", "500", "")))
    assert all(map(is_level, ("Warnung", "ERROR", "警告", "wrn")))


def test_a_header_names_its_level_at_any_place() -> None:
    assert names_level("2026-09-05 10:56:01 [main] INFO started") and names_level("x | error | late")
    assert not names_level("2026-09-05 10:56:01 could not write: an error came")
