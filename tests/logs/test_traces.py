"""The count of exceptions finds the stack traces that the scanner finds, and no more."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eosctl.cli import main
from eosctl.logs.classifier.throwable import parse_chain
from eosctl.logs.files.sources import SourceFile, inspect_file
from eosctl.logs.layouts import detect_layouts
from eosctl.logs.records.record import Record
from eosctl.logs.records.scanner import scan_records
from eosctl.logs.scan import plan_splits, scan_paths
from eosctl.logs.traces import count_exceptions, find_traces, merge_counts
from eosctl.render.schemas import schema_of

FIXTURES = Path(__file__).parents[1] / "fixtures" / "logs"
LOGS = sorted((FIXTURES / "poison-record-392").rglob("*.log"))
HEADERS = (
    "[2026-11-21 09:31:18,670] INFO on (a.B)",
    "2026-11-21 09:31:18.670 ERROR [main] a.B - failed",
    "ERROR [2026-11-21 09:31:18,670] a.B: failed",
    '{"level":"ERROR","message":"x","stack_trace":"java.lang.IllegalStateException: no\\n\\tat a.B.c(D.java:1)"}',
)
BELOW = (
    *("org.apache.kafka.common.errors.TimeoutException: late", "\tat a.B.c(D.java:1)", "", "1 more line", "[x]"),
    *(
        "Caused by: java.lang.IllegalStateException",
        "Traceback (most recent call last):",
        '  File "a.py", line 1, in b',
    ),
    *("%4|1795253370.1|FAIL|a#producer-1| [thrd:main]: gone", "cimpl.KafkaException: fenced", "\tacks = -1"),
    'Exception in thread "main" java.lang.Error: no',
)


@settings(max_examples=150, deadline=None)
@given(
    header=st.sampled_from(HEADERS),
    lines=st.lists(st.sampled_from(("header", *BELOW)), max_size=30),
    ended=st.booleans(),
    cut=st.integers(0, 100),
)
def test_any_text_holds_the_traces_of_the_scanner(header: str, lines: list[str], ended: bool, cut: int) -> None:
    text = "\n".join(header if line == "header" else line for line in lines)
    data = (text + "\n" * ended).encode()
    verdict = detect_layouts(f"{header}\n{text}".encode())
    middle = len(data) * cut // 100
    for start, end in ((0, None), (0, middle), (middle, None)):
        if start < (len(data) if end is None else end):
            assert thrown(find_traces(data, verdict, start, end)) == thrown(scan_records(data, verdict, start, end))


def thrown(records: Iterator[Record]) -> list[tuple[int, tuple[str, ...]]]:
    return [(record.offset, chain) for record in records if (chain := parse_chain(record.rest))]


@pytest.mark.parametrize("split_bytes", [4_001, 1 << 26])
def test_counts_add_up_to_the_events(split_bytes: int) -> None:
    counted: Counter[tuple[str, str]] = Counter()
    for path in LOGS:
        source = inspect_file(path)
        if isinstance(source, SourceFile):
            parts = [one for split in plan_splits(source, split_bytes) for one in count_exceptions(split).counts]
            for one in merge_counts(parts):
                counted[one.file, one.key.root_class] += one.event_count
    known = Counter(
        (event.file, event.exception.root_class)
        for event in scan_paths(LOGS).events
        if event.exception and counted[event.file, event.exception.root_class]
    )
    assert counted and counted.keys() == known.keys()
    assert all(count <= known[key] for key, count in counted.items())


def test_the_command_counts_by_minute_and_cause(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", "exceptions", str(FIXTURES / "poison-record-392"), "-o", "json"]) == 0
    result = json.loads(capsys.readouterr().out)
    from jsonschema import validate

    validate(result, schema_of("log-exceptions"))
    assert {(item["class"].rpartition(".")[2], item["count"]) for item in result["items"]} == {
        ("IllegalStateException", 2),
        ("StreamsException", 6),
    }
    first = result["items"][0]
    before = Path(first["file"]).read_bytes()[: first["offset"] + 4]
    assert before[-5:] == b"\n2026"
    assert first["line"] == before.count(b"\n") + 1


def test_a_file_that_is_cut_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import gzip

    whole = (FIXTURES / "poison-record-392" / "stream-1.log").read_bytes()
    (tmp_path / "a.log.gz").write_bytes(gzip.compress(whole)[:-2000])
    assert main(["logs", "exceptions", str(tmp_path)]) == 4
    assert "a.log.gz: gzip" in capsys.readouterr().err
