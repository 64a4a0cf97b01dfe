"""Logs in topics have the same events as the shipped files, for every shipper and every division into ranges."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eosctl.logs.classifier.classify import own_classifier
from eosctl.logs.topics.address import Bound, TopicError, parse_bound, parse_topics, read_settings
from eosctl.logs.topics.plan import cut_parts, scan_with
from eosctl.logs.topics.shipped import TopicRecord, source_of
from eosctl.logs.topics.tail import Settling, TopicTail, between, limited
from eosctl.model.log_event import LogEvent
from tests.logs.partitions import (
    HOST,
    LOG,
    PATH,
    SHIPPERS,
    TOPICS,
    Partition,
    as_json,
    expected,
    lines_of,
    plain,
    shipped,
    without_place,
)

ERROR = (
    "2026-11-21 09:31:{:02d}.670 ERROR [main] a.Relay - failed {}",
    "java.lang.IllegalStateException: no",
    "\tat a.B.c(D.java:1)",
)


def read(partition: Any, part_offsets: int = 1 << 30, start: int = 0) -> list[LogEvent]:
    low, high = partition.bounds("logs", 0)
    parts = cut_parts(TOPICS, "logs", 0, max(start, low), high, low, part_offsets=part_offsets)
    return [event for part in parts for event in scan_with(partition, part, own_classifier()).events]


@pytest.mark.parametrize("name", SHIPPERS)
def test_a_shipped_file_gives_the_rows_of_the_file(name: str) -> None:
    events = read(Partition(shipped(lines_of(), SHIPPERS[name])))
    assert without_place(events) == without_place(expected())
    assert [(event.file, event.offset) for event in events] == [("logs-0", event.line - 1) for event in expected()]


def test_events_that_the_shipper_joined_are_the_same() -> None:
    joined: list[str] = []
    for line in lines_of():
        if line[:4] == "2026" or not joined:
            joined.append(line)
        else:
            joined[-1] += f"\n{line}"
    events = read(Partition(shipped(joined)))
    assert without_place(events) == without_place(expected())
    assert {event.line for event in events} == {1}


@pytest.mark.parametrize("part_offsets", [1, 2, 3, 7, 50])
def test_events_do_not_depend_on_where_a_partition_is_cut(part_offsets: int) -> None:
    """Two machines alternate line by line, so that their events interleave."""
    lines = [line for number in range(6) for line in error_lines(number)]
    mixed = [plain(line)._replace(headers=(("host", host),)) for line in lines for host in (b"broker-1", b"broker-2")]
    partition = Partition(record._replace(offset=2 * offset) for offset, record in enumerate(mixed))
    whole = read(partition)
    assert [(event.host, event.message) for event in whole] == [
        (host, f"failed {number}") for number in range(6) for host in ("broker-1", "broker-2")
    ]
    assert all(event.exception for event in whole)
    assert read(partition, part_offsets) == whole


def error_lines(number: int) -> list[str]:
    return [line.format(number, number) for line in ERROR]


@settings(max_examples=8)
@given(st.lists(st.integers(1, 90), min_size=1, max_size=12), st.booleans())
def test_a_partition_that_grows_in_pieces_gives_each_event_once(pieces: list[int], pauses: bool) -> None:
    lines, now, known = lines_of()[:400], 0.0, dict[str, int]()
    partition, tail = Partition(), TopicTail(1000, clock_ms=lambda: now)
    events: list[LogEvent] = []

    def read_new() -> None:
        nonlocal known
        ends = tail.ends(partition, known)  # type: ignore[arg-type]
        for topic, number, first, stop in between(known, ends):
            for part in cut_parts(TOPICS, topic, number, first, stop, 0, part_offsets=100):
                events.extend(scan_with(partition, part, own_classifier()).events)  # type: ignore[arg-type]
        known = ends

    for size in pieces:
        for line in lines[len(partition.all) : len(partition.all) + size]:
            partition.add(plain(line))
        read_new()
        now += 10
        if pauses:
            read_new()
    for line in lines[len(partition.all) :]:
        partition.add(plain(line))
    read_new()
    assert known["logs-0"] < len(lines)
    now += 1001
    read_new()
    assert known["logs-0"] == len(lines)
    wanted = [event for event in expected() if event.line <= len(lines)]
    assert without_place(events) == without_place(wanted)


def test_only_what_has_been_there_for_the_idle_time_is_settled() -> None:
    settling = Settling(1000)
    assert settling.settled("a", 5, 0) == 0
    assert settling.settled("a", 9, 600) == 0
    assert settling.settled("a", 9, 1000) == 5
    assert settling.settled("a", 9, 1599) == 5
    assert settling.settled("a", 9, 1600) == 9


def test_records_deleted_by_retention_are_named_and_counted() -> None:
    partition = Partition(shipped(lines_of()))
    [part] = cut_parts(TOPICS, "logs", 0, 0, len(partition.all), 0)
    partition.low = 200
    scan = scan_with(partition, part, own_classifier())  # type: ignore[arg-type]
    assert scan.counts.error == "200 offsets (0 to 199) no longer exist: logs-0 begins at 200"
    assert [event.offset for event in scan.events] == [one.line - 1 for one in expected() if one.line > 200]


@pytest.mark.parametrize(
    ("record", "source"),
    [
        (TopicRecord(1, None, b"broker-2", b"x"), ("broker-2", "", "")),
        (TopicRecord(1, None, b"order-17", b"x"), ("", "", "")),
        (TopicRecord(1, None, b"\xff", b"x", (("service", b"relay"), ("hostname", b"h"))), ("h", "", "relay")),
        (as_json({"@timestamp": "t", "message": "m", "level": "INFO", "agent": {}}), ("", "", "")),
        (as_json({"timestamp": "t", "message": "m", "path": "/orders"}), ("", "", "")),
        (SHIPPERS["Vector"]("x"), (HOST, PATH, "stream-1")),
        (as_json({"date": 1.5, "log": "x", "kubernetes": {"pod_name": "kafka-0"}}), ("kafka-0", "", "kafka-0")),
    ],
)
def test_the_source_of_a_record_comes_from_its_shipper(record: TopicRecord, source: tuple[str, str, str]) -> None:
    assert tuple(source_of(record)[0]) == source


def test_a_line_that_an_engine_split_is_joined() -> None:
    first, second, third = error_lines(1)
    pieces = [(first[:30], "P"), (first[30:], "F"), (second, "F"), (third, "F")]
    records = [as_json({"time": "t", "stream": "stdout", "logtag": tag, "log": text}) for text, tag in pieces]
    [event] = read(Partition(record._replace(offset=offset) for offset, record in enumerate(records)))
    assert (event.message, event.offset) == ("failed 1", 0)
    assert event.exception is not None


def test_a_time_within_the_text_is_not_the_records_time() -> None:
    text = "[main] ERROR a.Relay - late since {}"
    records = [
        TopicRecord(0, 1_795_253_482_000 + one, None, text.format(1_700_000_000_000 + one).encode()) for one in range(9)
    ]
    events = read(Partition([record._replace(offset=one) for one, record in enumerate(records)]))
    assert [event.time_ms for event in events] == [1_795_253_482_000 + one for one in range(9)]


def test_text_without_a_stamp_has_its_records_time() -> None:
    text = b"org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer"
    [event] = read(Partition([TopicRecord(0, 1_795_253_482_000, None, text)]))
    assert event.time_ms == 1_795_253_482_000


@given(st.dictionaries(st.sampled_from("abc"), st.integers(0, 500), min_size=1), st.integers(1, 400))
def test_a_limit_is_respected_and_one_partition_advances(waiting: dict[str, int], most: int) -> None:
    start = dict.fromkeys(waiting, 10)
    ends = limited(start, {name: 10 + count for name, count in waiting.items()}, most)
    moved = {name: ends[name] - 10 for name in ends}
    assert sum(moved.values()) <= most
    assert all(0 <= moved[name] <= waiting[name] for name in waiting)
    assert any(moved.values()) == any(waiting.values())


def test_an_url_names_topics_and_settings_and_shows_none(tmp_path: Path) -> None:
    config = tmp_path / "client.conf"
    config.write_text("# mine\nsasl.username=me\nsasl.password=open=sesame\nauto.offset.reset=latest\n")
    topics = parse_topics(Path(f"kafka://a:9092,b:9092/x,y?config={config}&client.id=me&start=earliest"))
    assert (topics.brokers, topics.names, topics.start) == ("a:9092,b:9092", ("x", "y"), Bound("earliest"))
    assert topics.settings == {
        "isolation.level": "read_committed",
        "sasl.username": "me",
        "sasl.password": "open=sesame",
        "client.id": "me",
    }
    assert "sesame" not in f"{topics} {topics!r} {[topics]}"
    assert read_settings(config)["sasl.username"] == "me"


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("latest", Bound("latest")),
        ("1795253482000", Bound("latest", moment_ms=1_795_253_482_000)),
        ("2026-11-21T09:31:22+01:00", Bound("latest", moment_ms=1_795_249_882_000)),
        ('{"logs": {"0": 12, "1": -2}}', Bound("earliest", offsets={"logs": {"0": 12, "1": -2}})),
    ],
)
def test_a_bound_is_a_word_a_time_or_offsets(text: str, bound: Bound) -> None:
    assert parse_bound(text) == bound


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (lambda: parse_topics("kafka://a:9092"), "names no topics"),
        (lambda: parse_topics("kafka://a:9092?sasl.password=sesame"), "names no topics"),
        (lambda: parse_topics("kafka://a/b c"), "not a topic name"),
        (lambda: parse_topics("kafka://a/t?from=1"), "Unknown option"),
        (lambda: parse_topics("kafka://a/t?ssl.truststore.location=x"), "ssl.ca.location"),
        (lambda: parse_topics("kafka://a/t?config=/no/such/file"), "cannot be read"),
        (lambda: parse_bound("soon"), "not a position"),
        (lambda: parse_bound('{"a": 1}'), "not a position"),
        (lambda: parse_bound("2026-11-21T09:31"), "no time zone"),
    ],
)
def test_invalid_addresses_are_refused(work: Callable[[], object], words: str) -> None:
    with pytest.raises(TopicError, match=words) as caught:
        work()
    assert "sesame" not in str(caught.value)


def test_filebeats_own_files_are_peeled_too(tmp_path: Path) -> None:
    from eosctl.logs.scan import scan_paths

    path = tmp_path / "filebeat.ndjson"
    path.write_text("".join(f"{record.value.decode()}\n" for record in shipped(lines_of(), SHIPPERS["Filebeat"])))
    scan = scan_paths([path])
    assert without_place(scan.events) == without_place(expected())
    assert json.loads(path.read_bytes().splitlines()[0])["message"] == lines_of(LOG)[0]
