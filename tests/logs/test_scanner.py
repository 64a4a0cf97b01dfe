"""Records from bytes: layouts, the extent of a record, and the same events for every division into splits."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eosctl.logs import scan
from eosctl.logs.classifier.classify import Classifier
from eosctl.logs.files.content import read_content
from eosctl.logs.files.sources import SourceFile, Unread, application_of, inspect_file
from eosctl.logs.layout_catalog import LAYOUTS
from eosctl.logs.layouts import detect_layouts
from eosctl.logs.pattern_string import PatternError, layout_of_pattern
from eosctl.logs.records.record import Record
from eosctl.logs.records.scanner import read_headerless, scan_records
from eosctl.logs.scan import number_lines, plan_splits, scan_split
from eosctl.logs.tally import Split

FIXTURES = Path(__file__).parents[1] / "fixtures" / "logs"

ONE_OF_EACH = {
    "kafka": "[2026-11-21 09:31:18,670] WARN it is late (kafka.server.ReplicaManager)",
    "python-bracket": "[2026-11-21 09:31:18,670] [WARNING] kafka.server.ReplicaManager - it is late",
    "spring-boot": "2026-11-21T09:31:18.670Z  WARN 73156 --- [app] [main] kafka.server.ReplicaManager : it is late",
    "flink": "2026-11-21 09:31:18,670 WARN  kafka.server.ReplicaManager                 [] - it is late",
    "logback-level-thread": "2026-11-21 09:31:18.670 WARN  [main] kafka.server.ReplicaManager - it is late",
    "thread-class": "2026-11-21 09:31:18,670 WARN  [main] kafka.server.ReplicaManager: it is late",
    "logback": "2026-11-21 09:31:18.670 [main] WARN  kafka.server.ReplicaManager -- it is late",
    "strimzi": "2026-11-21 09:31:18,670 WARN it is late (kafka.server.ReplicaManager) [main]",
    "python": "2026-11-21 09:31:18,670 - kafka.server.ReplicaManager - WARNING - it is late",
    "short": "26/11/21 09:31:18 WARN kafka.server.ReplicaManager: it is late",
    "dropwizard": "WARN  [2026-11-21 09:31:18,670] kafka.server.ReplicaManager: it is late",
    "python-level-first": "WARNING:kafka.server.ReplicaManager:2026-11-21 09:31:18,670 it is late",
    "redpanda": "WARN  2026-11-21 09:31:18,670 [shard 0:main] kafka.server.ReplicaManager - it is late",
    "json": json.dumps(
        {
            "@timestamp": "2026-11-21T09:31:18.670Z",
            "level": "WARN",
            "logger_name": "kafka.server.ReplicaManager",
            "message": "it is late",
        }
    ),
}


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_a_layout_is_recognized_and_its_parts_are_found(name: str) -> None:
    data = (ONE_OF_EACH[name] + "\n").encode() * 3
    verdict = detect_layouts(data)
    assert (verdict.name, verdict.unmatched_count) == (name, 0)
    records = list(scan_records(data, verdict))
    assert len(records) == 3
    assert (records[0].level, records[0].logger, records[0].message) == (
        "WARN",
        "kafka.server.ReplicaManager",
        "it is late",
    )
    assert records[0].time.startswith(("2026-11-21", "26/11/21"))


def test_every_layout_is_the_first_match_of_its_own_line() -> None:
    names = [layout.name for layout in LAYOUTS]
    assert len(set(names)) == len(names)
    assert set(ONE_OF_EACH) <= set(names)


def test_a_library_may_log_within_an_applications_log() -> None:
    data = (
        b"2026-11-21 09:31:14,789 INFO [MainThread] sync: starting\n"
        b"%1|1795253482.658|TXNERR|sync#producer-2| [thrd:main]: Fatal transaction error: x (_FENCED)\n"
        b"2026-11-21 09:31:22,658 ERROR [MainThread] sync: failed\nTraceback (most recent call last):\n"
        b'  File "a.py", line 3, in f\n    g()\ncimpl.KafkaException: fenced\n'
    )
    records = list(scan_records(data, detect_layouts(data)))
    assert [record.level for record in records] == ["INFO", "FATAL", "ERROR"]
    assert records[2].rest.endswith("cimpl.KafkaException: fenced\n")


@pytest.mark.parametrize(
    "pattern",
    [
        "%d{ISO8601} %-5p [%t] %c - %m%n",
        "%date{yyyy-MM-dd HH:mm:ss.SSS} %level [%thread] %logger{36} - %msg%n",
        "%d %highlight{%p} [%t] %c{1.}:%L %m%n",
    ],
)
def test_a_pattern_string_makes_a_layout(pattern: str) -> None:
    line = pattern
    for old, new in (
        ("%d{ISO8601}", "2026-11-21 09:31:18,670"),
        ("%date{yyyy-MM-dd HH:mm:ss.SSS}", "2026-11-21 09:31:18.670"),
        ("%d ", "2026-11-21 09:31:18,670 "),
        ("%-5p", "WARN "),
        ("%level", "WARN"),
        ("%highlight{%p}", "WARN"),
        ("%thread", "pool | 1"),
        ("%t", "pool | 1"),
        ("%logger{36}", "a.b.C"),
        ("%c{1.}:%L", "a.b.C:17"),
        ("%c", "a.b.C"),
        ("%msg", "it is late"),
        ("%m", "it is late"),
        ("%n", "\n"),
    ):
        line = line.replace(old, new)
    data = line.encode() + b"\tat x\n"
    verdict = detect_layouts(data, (layout_of_pattern(pattern),))
    (record,) = scan_records(data, verdict)
    assert (record.level, record.thread, record.message) == ("WARN", "pool | 1", "it is late")
    assert record.logger.startswith("a.b.C")
    assert record.rest == "\tat x\n"


@pytest.mark.parametrize("pattern", ["%d %p %c%n", "%m%n", "%d %p %what %m"])
def test_a_pattern_without_a_header_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        layout_of_pattern(pattern)


TEXT = (
    "[2026-11-21 09:31:18,670] INFO first line ends here (a.B)\n"
    "[2026-11-21 09:31:19,670] ERROR Error processing append operation on partition a-1 (kafka.server.ReplicaManager)\n"
    "org.apache.kafka.common.errors.NotEnoughReplicasException: The size of the current ISR\n"
    "\tat a.B.c(D.java:1)\n"
    "Caused by: java.io.IOException: x\n"
    "[2026-11-21 09:31:20,670] WARN [Producer clientId=c, transactionalId=t] ProducerFencedException \u00e9 (a.C)\n"
)


def source_of(path: Path) -> SourceFile:
    source = inspect_file(path)
    assert isinstance(source, SourceFile)
    return source


@pytest.mark.parametrize("line_end", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("final", [True, False], ids=["ended", "not ended"])
def test_every_split_size_gives_the_same_events(line_end: str, final: bool, tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    text = TEXT.replace("\n", line_end)
    path.write_bytes((text if final else text.rstrip()).encode())
    source = source_of(path)
    classifier = Classifier()
    whole = scan_split(Split(source, 0, None), classifier)
    assert [event.line for event in whole.events] == [2, 6]
    assert whole.events[0].exception is not None
    assert whole.events[0].exception.root_class == "java.io.IOException"
    for size in range(1, source.size_bytes + 1):
        parts = [scan_split(split, classifier) for split in plan_splits(source, size)]
        assert tuple(number_lines(parts)) == whole.events, size
        assert sum(part.counts.event_count for part in parts) == whole.counts.event_count
        assert sum(part.counts.size_bytes for part in parts) == source.size_bytes


LINES = st.sampled_from(
    [
        "[2026-11-21 09:31:19,670] ERROR ProducerFencedException (a.B)",
        "[2026-11-21 09:31:19,670] INFO nothing (a.B)",
        "\tat a.B.c(D.java:1)",
        "Caused by: a.b.CException: x",
        "",
        "free text",
        "2026-11-21 09:31:19,670 looks like a header",
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(LINES, min_size=1, max_size=25), st.integers(min_value=1, max_value=200))
def test_any_text_splits_anywhere(lines: list[str], size: int) -> None:
    head = "[2026-11-21 09:31:18,670] INFO start (a.B)\n"
    data = (head + "\n".join(lines)).encode()
    verdict = detect_layouts(data)
    whole = list(scan_records(data, verdict))
    parts = [
        record for start in range(0, len(data), size) for record in scan_records(data, verdict, start, start + size)
    ]
    assert [(r.offset, r.message, r.rest) for r in parts] == [(r.offset, r.message, r.rest) for r in whole]
    assert "".join(_spelled(record) for record in whole).count("at a.B.c") == data.count(b"at a.B.c")


def _spelled(record: Record) -> str:
    return f"{record.message}\n{record.rest}"


def test_a_recorded_file_splits_anywhere() -> None:
    path = FIXTURES / "poison-record-392" / "stream-1.log"
    source = source_of(path)
    classifier = Classifier()
    whole = scan_split(Split(source, 0, None), classifier).events
    for size in (997, 4_001, 60_000):
        assert tuple(number_lines([scan_split(split, classifier) for split in plan_splits(source, size)])) == whole


def test_damage_is_counted_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_bytes(
        b"\xef\xbb\xbf[2026-11-21 09:31:18,670] ERROR one \xff\xfe (a.B)\n[2026-11-21 09:31:19,670] ERROR \0two (a.B)\n"
        b"[2026-11-21 09:31:20,670] ERROR three (a.B)\n"
        + b"x" * 400_000
        + b"\n[2026-11-21 09:31:21,670] ERROR four (a.B)\n"
    )
    scan = scan_split(Split(source_of(path), 0, None), Classifier())
    assert [event.message[:3] for event in scan.events] == ["one", "two", "thr", "fou"]
    assert (scan.counts.undecodable_count, scan.counts.truncated_count, scan.counts.unmatched_line_count) == (1, 1, 0)


@pytest.mark.parametrize("piece_bytes", [97, 5_000])
def test_a_split_that_is_read_in_pieces_gives_the_same(piece_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in sorted((FIXTURES / "poison-record-392").rglob("stream-1*")):
        [split] = plan_splits(source_of(path))
        whole = scan_split(split, Classifier())
        with monkeypatch.context() as patch:
            patch.setattr(scan, "PIECE_BYTES", piece_bytes)
            assert scan_split(split, Classifier()) == whole
        assert whole.counts.newline_count == read_content(path).data[:].count(b"\n")


def test_text_without_any_header_is_kept_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "pasted.txt"
    path.write_text(
        "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer\n\tat a.B.c(D.java:1)\n"
    )
    scan = scan_split(Split(source_of(path), 0, None), Classifier())
    assert [event.category for event in scan.events] == ["PRODUCER_FENCED"]
    assert scan.counts.unmatched_line_count == 1


@pytest.mark.parametrize(
    ("name", "application"),
    [
        ("broker-1/server.log.2026-11-21-09.gz", "broker-1"),
        ("broker-1/kafkaServer-gc.log.3", "broker-1"),
        ("broker-1/logs/server.log", "broker-1"),
        ("incident/in/connect.log", "connect"),
        ("x/relay.log.gz", "relay"),
        ("x/sync-a.log", "sync-a"),
        ("x/stream-1.log.2", "stream-1"),
    ],
)
def test_the_name_of_a_file_gives_the_application(name: str, application: str) -> None:
    assert application_of(Path(name)) == application


def test_documents_and_binaries_are_named_and_not_read(tmp_path: Path) -> None:
    (tmp_path / "truth.json").write_text('{\n "a": 1\n}\n')
    (tmp_path / "core").write_bytes(bytes(4096))
    for name in ("truth.json", "core", "missing.log"):
        assert isinstance(inspect_file(tmp_path / name), Unread)


def test_a_shrinking_file_is_read_up_to_its_end(tmp_path: Path) -> None:
    line = "[2026-11-21 09:31:18,670] ERROR it is late (kafka.server.ReplicaManager)\n"
    path = tmp_path / "server.log"
    path.write_text(line * 9)
    source = source_of(path)
    splits = list(plan_splits(source, 3 * len(line)))
    path.write_text(line * 4)
    scans = [scan_split(split, Classifier()) for split in splits]
    assert [len(scan.events) for scan in scans] == [3, 1, 0]
    assert all("shrunk" in scan.counts.error for scan in scans)


@pytest.mark.parametrize("how", ["renamed", "truncated", "compressed"])
def test_a_replacement_of_a_file_is_detected_and_reported(how: str, tmp_path: Path) -> None:
    line = "[2026-11-21 09:31:1{},670] ERROR it is late (kafka.server.ReplicaManager)\n"
    path = tmp_path / "server.log"
    old, new = (line.format(1) * 90).encode(), (line.format(2) * 200).encode()
    pack = gzip.compress if how == "compressed" else bytes
    path.write_bytes(pack(old))
    source = source_of(path)
    first, *others = plan_splits(source, 30 * len(line))
    assert scan_split(first, Classifier()).events
    if how == "renamed":
        path.rename(tmp_path / "server.log.1")
    path.write_bytes(pack(new))  # larger than before, so that the size does not give it away
    scans = [scan_split(split, Classifier()) for split in (others or [first])]
    assert all(scan.events == () and "replaced it" in scan.counts.error for scan in scans)


def test_a_file_that_grows_meanwhile_is_the_same_file(tmp_path: Path) -> None:
    line = "[2026-11-21 09:31:18,670] ERROR it is late (kafka.server.ReplicaManager)\n"
    path = tmp_path / "server.log"
    path.write_text(line * 2)
    splits = list(plan_splits(source_of(path), len(line)))
    with path.open("a") as file:
        file.write(line * 3)
    scans = [scan_split(split, Classifier()) for split in splits]
    assert [len(scan.events) for scan in scans] == [1, 4]
    assert not any(scan.counts.error for scan in scans)


@pytest.mark.parametrize(
    ("line", "level"),
    [
        (b"% ERROR: Topic lagoon error: Broker: Unknown topic or partition", "ERROR"),
        (b"[WARN] unable to dial; broker: 2", "WARN"),
        (b"FATAL: no partition left", "FATAL"),
        (b"ERROR handling is described below", ""),
        (b"the first ERROR: of the day", ""),
    ],
)
def test_lines_of_a_terminal_have_their_level(line: bytes, level: str) -> None:
    assert read_headerless(line, 0, len(line), 0).level == level
