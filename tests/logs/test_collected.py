"""Logs as collectors store them: many programs in one file, one program in many, hosts with different clocks."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.logs.rendering import TRUTH, Files, load, shifted, stamped, verdicts_stay

SCENARIOS = ("second-producer-392", "hanging-transaction-392", "poll-interval-392")
GATHERED = "all.log"
TABLE = "describe-producers.out"


def program(name: str) -> str:
    return Path(name).parent.name or Path(name).stem


def fluent(name: str, at: datetime, line: str) -> str:
    pod = {"pod_name": f"{program(name)}-0", "container_name": "main"}
    return json.dumps({"@timestamp": at.isoformat(), "log": line, "kubernetes": pod})


Label = Callable[[str, datetime, str], str]
"""Builds a line of a collected file from the file's name, the time, and the line."""
LABELS: dict[str, Label] = {
    "compose": lambda name, at, line: f"{program(name):<14}| {line}",
    "kubectl": lambda name, at, line: f"[pod/{program(name)}-0/main] {line}",
    "syslog": lambda name, at, line: f"<14>1 {at.isoformat()} host-{program(name)} {program(name)} 41 - - {line}",
    "fluent": fluent,
}


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_programs_in_one_file_are_separated(scenario: str, label: str, tmp_path: Path) -> None:
    verdicts_stay(tmp_path, gathered(load(scenario), LABELS[label]))


def test_an_application_may_log_to_its_embedded_brokers_file(tmp_path: Path) -> None:
    verdicts_stay(tmp_path, gathered(load("poison-record-392"), lambda name, at, line: line))


def gathered(files: Files, label: Label) -> Files:
    """Merge the records of all files into one file in order of time, each line with a label."""
    records = [
        (record.at, name, number, record.lines)
        for name, text in files.items()
        if name not in (TRUTH, TABLE) and "gc.log" not in name
        for number, record in enumerate(stamped(text))
    ]
    lines = [label(name, at, line) for at, name, _, lines in sorted(records) for line in lines]
    truth = json.loads(files[TRUTH])
    for one in truth["truth"]:
        one["must_be_found_in"] = [GATHERED]
    kept = {TABLE: files[TABLE]} if TABLE in files else {}
    return {GATHERED: "".join(f"{line}\n" for line in lines), TRUTH: json.dumps(truth)} | kept


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_log_that_was_rotated_is_one_log(scenario: str, tmp_path: Path) -> None:
    def parts(name: str, text: str) -> Files:
        records = list(stamped(text))
        if not name.endswith((".log", ".json")) or name == TRUTH or len(records) < 4:
            return {name: text}
        share = -(-len(records) // 4)
        pieces = [records[start : start + share] for start in range(0, len(records), share)]
        written = ["".join(f"{line}\n" for record in piece for line in record.lines) for piece in pieces]
        return {f"{name}.{age}" if age else name: piece for age, piece in enumerate(reversed(written))}

    verdicts_stay(
        tmp_path, {part: text for name, whole in load(scenario).items() for part, text in parts(name, whole).items()}
    )


# A librdkafka client prints no producer id, so its clock cannot be compared, and only a small difference works.
APART = [(moved, seconds) for moved in ("broker-1", "journal", "relay") for seconds in (-7, -3, 3, 45)]


@pytest.mark.parametrize(("moved", "seconds"), [*APART, ("sync", -4), ("sync", 4)])
def test_clocks_may_differ(moved: str, seconds: int, tmp_path: Path) -> None:
    by = timedelta(seconds=seconds)
    files = load("second-producer-392")
    verdicts_stay(
        tmp_path, {name: shifted(text, by) if name.startswith(moved) else text for name, text in files.items()}
    )


@pytest.mark.parametrize("scenario", ["second-producer-392", "paused-process-431"])
def test_brokers_may_write_the_time_of_their_own_zone(scenario: str, tmp_path: Path) -> None:
    away = timedelta(hours=5, minutes=30)
    verdicts_stay(
        tmp_path,
        {
            name: shifted(text, away) if name.startswith("broker") and "gc.log" not in name else text
            for name, text in load(scenario).items()
        },
    )


@pytest.mark.parametrize("scenario", ["second-producer-392", "paused-process-431"])
def test_python_may_log_local_time_between_librdkafka_lines(scenario: str, tmp_path: Path) -> None:
    local = {
        name: "".join(
            line if line.startswith("%") else shifted(line, timedelta(hours=-7)) for line in text.splitlines(True)
        )
        for name, text in load(scenario).items()
        if name.startswith("sync")
    }
    assert local
    verdicts_stay(tmp_path, {**load(scenario), **local})
