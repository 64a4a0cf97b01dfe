"""The sieve skips irrelevant records: for any text and any split, its events equal the scanner's."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eosctl.logs.classifier.catalog import load_catalog
from eosctl.logs.classifier.classify import Classifier
from eosctl.logs.layout_catalog import LAYOUTS
from eosctl.logs.layouts import Verdict, compile_header, detect_layouts, header_expressions
from eosctl.logs.records import kinds, sieve
from eosctl.logs.records.anchors import meaning_anchors, work_anchors
from eosctl.logs.records.literals import required_literal
from eosctl.logs.records.record import Classified, Record
from eosctl.logs.records.scanner import MAX_EVENT_BYTES, scan_records
from eosctl.logs.records.sieve import sift_records

FIXTURES = Path(__file__).parents[1] / "fixtures" / "logs"
HEADERS = (
    "[2026-11-21 09:31:18,670] {level} {text} (kafka.server.ReplicaManager)",
    "2026-11-21 09:31:18.670 {level}  [main] o.a.k.c.Producer - {text}",
    "2026-11-21T09:31:18.670Z  {level} 73156 --- [app] [main] c.e.Relay : {text}",
    "{level} [2026-11-21 09:31:18,670] c.e.Relay: {text}",
)
CLASSIFIER = Classifier()
TEXTS = (
    *("all is well", "Transiting to fatal error state due to x", "poll TIMEOUT has expired", "it has stopped", "\x00"),
    *("Completed rollback of ongoing transaction for transactionalId a due to timeout", "gr\xfc\xdf", "Exc\x00eption"),
)
BELOW = (
    *("org.apache.kafka.common.errors.TimeoutException: late", "\tat a.B.c(D.java:1)", "", "more", "2026 is a year"),
    *(
        "Caused by: java.lang.IllegalStateException",
        "Traceback (most recent call last):",
        '  File "a.py", line 1, in b',
    ),
    *("%4|1795253370.1|FAIL|a#producer-1| [thrd:main]: gone", "java.lang.Error"),
)
LINES = st.one_of(
    st.tuples(st.just("header"), st.sampled_from(["INFO", "WARN", "ERROR"]), st.sampled_from(TEXTS)),
    st.tuples(st.just("below"), st.just(""), st.sampled_from(BELOW)),
)


def counted(records: Iterator[Record]) -> tuple[list[tuple[int, int, Classified]], int]:
    """Return what records mean, and how many there are in all."""
    events, count = [], 0
    for record in records:
        count += 1 + record.passed_count
        found = CLASSIFIER.classify(record)
        if found is not None:
            events.append((record.offset, record.line, found))
    return events, count


def sift(data: bytes, verdict: Verdict, start: int = 0, end: int | None = None) -> Iterator[Record]:
    return sift_records(data, verdict, start, end, small_bytes=0)


@settings(max_examples=60, deadline=None)
@given(
    header=st.sampled_from(HEADERS),
    lines=st.lists(LINES, min_size=1, max_size=25),
    window=st.sampled_from([1, 40, 300, 1 << 20]),
    encoding=st.sampled_from(["utf-8", "latin-1"]),
    cut=st.integers(0, 100),
    few_lines=st.sampled_from([0, 4, 256]),
)
def test_any_text_gives_the_same_events(
    header: str, lines: list[tuple[str, str, str]], window: int, encoding: str, cut: int, few_lines: int
) -> None:
    spelled = [header.format(level=level, text=text) if kind == "header" else text for kind, level, text in lines]
    data = "\n".join(spelled).encode(encoding)
    verdict = detect_layouts("\n".join([header.format(level="INFO", text="on"), *spelled]).encode(encoding))
    middle = len(data) * cut // 100
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sieve, "WINDOW_BYTES", window)
        patch.setattr(kinds, "_FEW_LINES", few_lines)
        for start, end in ((0, None), (0, middle), (middle, None)):
            assert counted(sift(data, verdict, start, end)) == counted(scan_records(data, verdict, start, end))


def test_recorded_files_give_the_same_events() -> None:
    for path in sorted((FIXTURES / "poll-interval-392").rglob("*.log")):
        data = path.read_bytes()
        verdict = detect_layouts(data[:100_000])
        assert counted(sift(data, verdict)) == counted(scan_records(data, verdict))


def test_most_records_are_skipped() -> None:
    data = (FIXTURES / "poll-interval-392" / "broker-1" / "server.log").read_bytes()
    line = b"[2026-11-21 09:31:18,670] INFO all is well (a.B)\n"
    verdict = detect_layouts(data[:100_000])
    assert len(list(sift(line * 1000, verdict))) == 2
    assert counted(sift(line * 1000, verdict))[1] == 1000


def test_a_record_that_is_too_long_counts_as_truncated() -> None:
    # Kinds that an earlier test has made known would change the number of unknown lines.
    kinds.kinds_of.cache_clear()
    line = b"[2026-11-21 09:31:18,670] INFO all is well (a.B)\n"
    data = line + line + b"more\n" * (MAX_EVENT_BYTES // 5 + 1) + line * 2
    assert [record.truncated for record in sift(data, detect_layouts(line * 3))] == [False, True, False]


def test_every_layout_can_be_sifted() -> None:
    for layout in LAYOUTS:
        pc.match_substring_regex(pa.array([b"x"]), header_expressions([layout])[0])


@given(st.text("a.B:-[] \t\x0b\x0c\r\x1c", max_size=20))
def test_both_engines_agree_on_white_space(name: str) -> None:
    lines = [header.format(level="INFO", text="on").replace("elay", name) for header in HEADERS]
    raw = [f"{line}\n".encode() for line in lines]
    for layout in LAYOUTS:
        found = pc.match_substring_regex(pa.array(raw), header_expressions([layout])[0]).to_pylist()
        assert found == [compile_header([layout]).match(one) is not None for one in raw], layout.name


def test_a_pattern_beyond_the_engine_is_left_to_the_scanner() -> None:
    layout = LAYOUTS[0]._replace(pattern=rf"(?!never){LAYOUTS[0].pattern}")
    data = b"[2026-11-21 09:31:18,670] ERROR it is late (a.B)\n" * 9
    verdict = Verdict((layout,), 9, 0)
    assert counted(sift(data, verdict)) == counted(scan_records(data, verdict))


def test_what_a_category_needs_passes_also_when_json_escapes_it() -> None:
    message = 'Fetch to "node" failed: it\'s <late> & Transiting to fatal error state due to a=b'
    lines = [json.dumps({"@timestamp": "2026-11-21T09:31:18Z", "level": "INFO", "message": message})] * 3
    escaped = "\n".join(lines).replace("=", "\\u003d").replace("<", "\\u003c").encode()
    verdict = detect_layouts(escaped)
    assert len(counted(sift(escaped, verdict))[0]) == 3


def test_every_category_has_an_anchor() -> None:
    assert len(meaning_anchors()) > len(load_catalog().categories)


def test_no_anchor_holds_a_text_that_is_an_anchor_by_itself() -> None:
    texts = [required_literal(anchor) for anchor in meaning_anchors() if re.escape(required_literal(anchor)) == anchor]
    assert len(texts) > 100
    assert not [(one, other) for one in texts for other in texts if one != other and one in other]


def test_a_pattern_without_an_anchor_matches_a_shared_one() -> None:
    whole = re.compile("|".join(f"(?:{anchor})" for anchor in (*meaning_anchors(), *work_anchors())))
    patterns = [pattern for category in load_catalog().categories for pattern in category.patterns]
    texts = [
        text for text in map(required_literal, patterns) if len(text) > 12 and not set("[]\"'\\/<>&=\t") & set(text)
    ]
    assert len(texts) > 300
    assert [text for text in texts if whole.search(text) is None] == []


def test_records_that_can_only_report_work_are_marked() -> None:
    line = "2026-11-21 09:31:18,670 {} [pump-1] com.acme.Pump - {}\n"
    texts = [
        "published 81 events",
        "nothing sent",
        "could not be sent",
        "all is well",
        "Sent 3 rows to transactional.id x",
    ]
    data = "".join(line.format("INFO ", text) for text in ("begin", *texts, "end")).encode()
    verdict = detect_layouts(data)
    kinds.kinds_of.cache_clear()  # Few lines of unknown kinds count as relevant until there are more of them.
    marked = {record.message: record.is_only_work for record in sift(data, verdict)}
    assert {text for text, is_only_work in marked.items() if is_only_work} == {"published 81 events", "nothing sent"}
    assert counted(sift(data, verdict)) == counted(scan_records(data, verdict))
