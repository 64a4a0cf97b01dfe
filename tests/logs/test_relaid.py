"""Recorded faults as other loggers, frameworks and collectors would have written them: the verdicts stay the same."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import NamedTuple

import pytest

from scripts.logs_matrix import score_scenarios

FIXTURES = Path(__file__).parents[1] / "fixtures" / "logs"
SCENARIOS = ("second-producer-392", "missing-acl-431", "poll-interval-392")
STAMP = r"(?P<time>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,]\d{3})Z?"
HEADERS = (
    re.compile(rf"\[{STAMP}\] (?P<level>[A-Z]+) (?P<message>.*?)(?: \((?P<logger>[\w.$]+)\))?"),
    re.compile(rf"{STAMP} +(?P<level>[A-Z]+) \d+ --- \[ *(?P<thread>[^\]]*)\] (?P<logger>\S+) *: (?P<message>.*)"),
    re.compile(rf"{STAMP} (?P<level>[A-Z]+) +\[(?P<thread>[^\]]*)\] (?P<logger>[\w.$-]+) - (?P<message>.*)"),
)
DAY_AFTER = datetime(2026, 11, 22, tzinfo=UTC)
INDIA = timezone(timedelta(hours=5, minutes=30))


class Parts(NamedTuple):
    """A record of a recorded log, and the program that wrote it."""

    at: datetime
    level: str
    thread: str
    logger: str
    message: str
    below: tuple[str, ...]
    program: str

    def iso(self, between: str = " ", point: str = ",") -> str:
        return f"{self.at:%Y-%m-%d}{between}{self.at:%H:%M:%S}{point}{self.at.microsecond // 1000:03}"

    def text(self, header: str) -> str:
        return "\n".join((header, *self.below))

    def kafka(self) -> list[str]:
        return self.text(f"[{self.iso()}] {self.level} {self.message} ({self.logger})").split("\n")

    def stack(self) -> str:
        return "\n".join(self.below).strip("\n")


def lines(make: Callable[[Parts, str], object]) -> Callable[[Parts], str]:
    """Put something around each line of a record in Kafka's layout."""

    def relaid(one: Parts) -> str:
        made = (make(one, line) for line in one.kafka())
        return "\n".join(each if isinstance(each, str) else json.dumps(each) for each in made)

    return relaid


def otel(one: Parts) -> str:
    beside = {"thread.name": one.thread, "logger": one.logger} | (
        {"exception.stacktrace": one.stack()} if one.stack() else {}
    )
    nanoseconds = str(int(one.at.timestamp() * 1000) * 10**6)
    body = {"stringValue": one.message}
    return json.dumps({"timeUnixNano": nanoseconds, "severityText": one.level, "body": body, "attributes": beside})


def google(one: Parts) -> str:
    place = {"type": "k8s_container", "labels": {"pod_name": one.program}}
    payload = "\n".join(one.kafka())
    return json.dumps({"timestamp": f"{one.iso('T', '.')}Z", "textPayload": payload, "resource": place})


LAYOUTS: dict[str, Callable[[Parts], str]] = {
    "line numbers": lambda one: one.text(f"[{one.iso()}] {one.level} {one.message} ({one.logger}:123)"),
    "short loggers": lambda one: one.text(
        f"{one.iso()} {one.level:5} [{one.thread}] {one.logger.rpartition('.')[2]}:77 - {one.message}"
    ),
    "offset": lambda one: one.text(
        f"{one._replace(at=one.at.astimezone(INDIA)).iso('T', '.')}+05:30 [{one.thread}] {one.level:5} {one.logger} -- "
        f"{one.message}"
    ),
    "named months": lambda one: one.text(
        f"{one.at:%d %b %Y %H:%M:%S},{one.at.microsecond // 1000:03} [{one.thread}] {one.level:5} {one.logger} - "
        f"{one.message}"
    ),
    "traced": lambda one: one.text(
        f"{one.iso(point='.')} {one.level:5} [{one.program},6f2a9c,77b1] 1 --- [{one.thread}] {one.logger} : "
        f"{one.message}"
    ),
    "quarkus": lambda one: one.text(f"{one.iso()} {one.level:5} [{one.logger}] ({one.thread}) {one.message}"),
    "process id": lambda one: one.text(f"{one.iso()} 4711 {one.level} {one.logger} [{one.thread}] {one.message}"),
    "milliseconds": lambda one: one.text(
        f"{one.at.timestamp() * 1000:.0f} [{one.thread}] {one.level:5} {one.logger} - {one.message}"
    ),
    "seconds": lambda one: one.text(f"{one.at.timestamp():.3f} {one.level} {one.logger}: {one.message}"),
    "no year": lambda one: one.text(f"{one.iso()[5:]} [{one.thread}] {one.level:5} {one.logger} - {one.message}"),
    "tabs": lambda one: one.text("\t".join((one.iso(), one.level, one.thread, one.logger, one.message))),
    "brackets": lambda one: one.text(f"[{one.iso('T', '.')}Z][{one.level}][{one.thread}][{one.logger}] {one.message}"),
    "level first": lambda one: one.text(f"{one.level} {one.iso('T', '.')}Z {one.logger} {one.message}"),
    "no logger": lambda one: one.text(f"{one.iso()} {one.level}: {one.message}"),
    "basic dates": lambda one: one.text(
        f"{one.at:%Y%m%dT%H%M%S},{one.at.microsecond // 1000:03} [{one.thread}] {one.level:5} {one.logger} - "
        f"{one.message}"
    ),
    "otel": otel,
    "google": google,
    "journald": lines(
        lambda one, line: {
            "__REALTIME_TIMESTAMP": str(int(one.at.timestamp() * 1000) * 1000),
            "SYSLOG_IDENTIFIER": one.program,
            "MESSAGE": line,
        }
    ),
    "loki": lines(
        lambda one, line: {"labels": {"pod": one.program}, "line": line, "timestamp": f"{one.iso('T', '.')}Z"}
    ),
    "coloured compose": lines(lambda one, line: f"\x1b[36m{one.program}-1  | \x1b[0m{line}"),
}


def header_of(line: str) -> re.Match[str] | None:
    return next((found for header in HEADERS if (found := header.fullmatch(line))), None)


def records(text: str, program: str) -> list[Parts]:
    found: list[Parts] = []
    for line in text.splitlines():
        header = header_of(line)
        if header is None:
            found[-1] = found[-1]._replace(below=(*found[-1].below, line))
            continue
        parts = {"thread": "main", **header.groupdict()}
        at = datetime.fromisoformat(parts["time"].replace(",", ".")).replace(tzinfo=UTC)
        logger, thread = parts["logger"] or "a.B", parts["thread"].strip()
        found.append(Parts(at, parts["level"], thread, logger, parts["message"], (), program))
    return found


@pytest.mark.parametrize("name", LAYOUTS)
def test_verdicts_do_not_depend_on_who_laid_the_logs_out(name: str, tmp_path: Path) -> None:
    relaid_count = 0
    for path in (file for scenario in SCENARIOS for file in (FIXTURES / scenario).rglob("*") if file.is_file()):
        target = tmp_path / path.relative_to(FIXTURES)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text("utf-8")
        if header_of(text.partition("\n")[0]) is not None:
            program = path.parent.name if path.parent.name.startswith("broker") else path.stem
            text = "".join(f"{LAYOUTS[name](one)}\n" for one in records(text, program))
            relaid_count += 1
        target.write_text(text, "utf-8")
        # A stamp without a year is of the year in which its file was written.
        os.utime(target, (DAY_AFTER.timestamp(), DAY_AFTER.timestamp()))
    assert relaid_count > len(SCENARIOS)
    scores = score_scenarios(sorted(tmp_path.iterdir()))
    assert {kind: score.f1 for kind, score in scores.items()} == dict.fromkeys(scores, 1.0)
