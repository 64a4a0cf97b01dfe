"""Records of one form are parsed once, with the same result as if each were parsed separately."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from eosctl.logs.classifier.classify import Classifier
from eosctl.logs.layouts import Verdict, detect_layouts
from eosctl.logs.pattern_string import layout_of_pattern
from eosctl.logs.records import forms
from eosctl.logs.records.forms import Forms
from eosctl.logs.records.record import Classified, Record
from eosctl.logs.records.scanner import scan_records
from eosctl.logs.records.sieve import sift_records
from eosctl.logs.scan import scan_paths
from eosctl.model.log_event import LogEvent

FIXTURES = Path(__file__).parents[1] / "fixtures" / "logs"
MOST_BYTES = 60_000
COPIES = 4


def other_digits(data: bytes, verdict: Verdict, chance: random.Random) -> bytes:
    """Replace the digits of header lines, except for those in Log4j's name."""

    def change(line: bytes) -> bytes:
        return re.sub(rb"(?<!og)[0-9]", lambda _: chance.choice(b"0123456789").to_bytes(1, "big"), line)

    header, lines = verdict.header(), data.split(b"\n")
    return b"\n".join(change(line) if header.match(line) else line for line in lines)


def relevant_records(
    data: bytes, verdict: Verdict, classifier: Classifier, *, sifted: bool
) -> Iterator[tuple[Record, Classified]]:
    """Yield the relevant records with their classification."""
    found = (
        sift_records(data, verdict, forms=classifier.forms, small_bytes=0)
        if sifted
        else scan_records(data, verdict, forms=classifier.forms)
    )
    for record in found:
        classified = classifier.classify(record)
        if classified is not None:
            yield record._replace(key=b"", passed_count=0), classified


@pytest.mark.parametrize("sifted", [False, True])
@pytest.mark.parametrize("folder", sorted(path.name for path in FIXTURES.iterdir() if path.is_dir()))
def test_a_cached_form_is_right_for_every_record(folder: str, sifted: bool) -> None:
    chance, remembering, forgetting = random.Random(folder), Classifier(), Classifier()
    read_again = 0
    for path in sorted((FIXTURES / folder).rglob("*.log")):
        data = path.read_bytes()[:MOST_BYTES]
        data = data[: data.rfind(b"\n") + 1]
        verdict = detect_layouts(data)
        data = b"".join([data, *(other_digits(data, verdict, chance) for _ in range(COPIES - 1))])
        known = list(relevant_records(data, verdict, remembering, sifted=sifted))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Forms, "expect", lambda *_: False)
            anew = list(relevant_records(data, verdict, forgetting, sifted=sifted))
        for one, other in zip(known, anew, strict=True):
            assert one == other
        read_again += len(remembering.forms._known)
    if any(path.suffix == ".log" for path in (FIXTURES / folder).rglob("*")):
        assert read_again


def scan(path: Path, lines: list[str]) -> list[LogEvent]:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return list(scan_paths([path]).events)


def test_a_level_as_a_number_is_read_in_every_record(tmp_path: Path) -> None:
    lines = [json.dumps({"level": 30, "time": 1763712345678 + one, "msg": f"order {one}"}) for one in range(50)]
    lines[40] = lines[40].replace('"level": 30', '"level": 50')
    assert [event.line for event in scan(tmp_path / "app.log", lines)] == [41]
    lines[45:] = [line.replace("30", "50", 1) for line in lines[45:]]
    assert [event.level for event in scan(tmp_path / "app.log", lines)] == ["ERROR"] * 6


def test_a_value_that_occurs_twice_is_read_again(tmp_path: Path) -> None:
    lines = [f"2026-11-21 09:31:18.{one:03} ERROR [a.B{one % 10}] a.B{9 - one % 10} - gone" for one in range(100)]
    events = scan(tmp_path / "app.log", lines)
    assert [event.thread for event in events] == [f"a.B{one % 10}" for one in range(100)]
    assert [event.logger for event in events] == [f"a.B{9 - one % 10}" for one in range(100)]


def test_a_number_that_loses_a_digit_is_read_again(tmp_path: Path) -> None:
    lines = [f'{{"level": "ERROR", "ts": 1763712345.{10 + one % 50}, "msg": "order {one % 10}"}}' for one in range(100)]
    events = scan(tmp_path / "app.log", [*lines[:1] * 3, *lines])
    assert [event.time_ms for event in events[3:]] == [1763712345_000 + 10 * (10 + one % 50) for one in range(100)]


def test_the_digits_of_a_trace_within_the_line_are_read(tmp_path: Path) -> None:
    lines = [
        json.dumps(
            {"level": "ERROR", "time": 1763712345678 + one, "message": "no", "stack_trace": f"a.b.S{one % 4}Error: no"}
        )
        for one in range(40)
    ]
    events = scan(tmp_path / "app.log", lines)
    assert [event.exception and event.exception.class_name for event in events] == [
        f"a.b.S{one % 4}Error" for one in range(40)
    ]


def test_a_field_in_the_logger_is_read_again(tmp_path: Path) -> None:
    line = "2026-11-21T09:31:18.{:03}Z ERROR 7 --- [main] a.clientId=relay-{} : gone {}"
    events = scan(tmp_path / "app.log", [line.format(one, one % 10, one % 7) for one in range(40)])
    assert [event.fields.get("client_id") for event in events] == [f"relay-{one % 10}" for one in range(40)]


def test_a_line_is_read_by_the_layout_of_its_file() -> None:
    data, classifier = b"2026-11-21 09:31:18.670 ERROR [main] a.B - gone\n" * 4, Classifier()
    for pattern, logger in (("%d %p [%t] %c - %m%n", "a.B"), ("%d %p [%c] %t - %m%n", "main")):
        verdict = detect_layouts(data, [layout_of_pattern(pattern)])
        assert {record.logger for record, _ in relevant_records(data, verdict, classifier, sifted=False)} == {logger}


def test_the_digits_of_classes_and_traces_are_read(tmp_path: Path) -> None:
    lines, fatal = [], "Transiting to fatal error state due to"
    for one in range(40):
        lines += [
            f"2026-11-21 09:31:18.{one:03} ERROR [main] a.B - {fatal} a.b.S{one % 4}Exception: no",
            f"2026-11-21 09:31:19.{one:03} ERROR [main] a.B - failed {one % 10}",
            f"a.b.S{one % 4}Exception: no {one}",
        ]
    events = scan(tmp_path / "app.log", lines)
    thrown = [event.exception.class_name for event in events if event.exception]
    assert thrown == [f"a.b.S{one // 2 % 4}Exception" for one in range(80)]


def test_an_undecodable_record_is_counted_each_time(tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    path.write_bytes(b"2026-11-21 09:31:18.670 INFO [main] a.B - on\n\xff\n" * 20)
    [source] = scan_paths([path]).sources
    assert (source.event_count, source.undecodable_count) == (20, 20)


def test_container_fields_apply_to_their_own_records_only(tmp_path: Path) -> None:
    line = "2026-11-21 09:31:18.670 ERROR [main] a.B - gone"
    wrapped = "".join(f"relay-service  | {line}\n" for _ in range(20))
    (tmp_path / "a-compose.log").write_text(wrapped)
    (tmp_path / "b.log").write_text(f"{line}\n" * 20)
    scanned = scan_paths([tmp_path])
    found = {(event.file.rpartition("/")[2], event.application) for event in scanned.events}
    assert found == {("a-compose.log", "relay-service"), ("b.log", "b")}


def test_the_cache_of_forms_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "_MARGIN_BYTES", 1000)
    monkeypatch.setattr(forms, "_SEEN_ONCE", 10)
    memory = Forms()
    for number in range(300):
        key = b"%0100d" % number
        assert not memory.expect(key)
        assert memory.expect(key)
        memory.learn(key, None)
    assert sum(memory.is_irrelevant(b"%0100d" % number) for number in range(300)) <= 10
    assert len(memory._seen) <= 10
