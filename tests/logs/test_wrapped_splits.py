"""Wrapped logs are read in parts, with the same events as when they are read as a whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eosctl.logs import scan
from eosctl.logs.carriers import peeled, wrappers
from eosctl.logs.classifier.classify import Classifier
from eosctl.logs.files.content import Margins
from eosctl.logs.files.sources import SourceFile, inspect_file
from eosctl.logs.scan import number_lines, plan_splits, scan_split, summarize
from eosctl.logs.tally import SplitScan
from eosctl.logs.traces import count_exceptions, merge_counts
from eosctl.model.log_event import LogEvent, SourceSummary

HEADERS: Final = (
    "2026-11-21 11:07:{:02d}.301 ERROR [main] a.b.Relay - order {} failed",
    "2026-11-21 11:07:{:02d}.302 INFO  [main] a.b.Relay - order {} noted",
)
MORE: Final = (
    "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer",
    "\tat a.b.Relay.run(Relay.java:7)",
    "Caused by: java.lang.IllegalStateException: stopped",
    "done",
)
CLASSIFIER: Final = Classifier()
Line = tuple[str, str, bool]
"""A service, a text, and whether it is complete."""


def cri(lines: Sequence[Line]) -> str:
    stamp = "2026-11-21T11:07:58.{:09d}Z"
    return "".join(
        f"{stamp.format(number)} {'stdout' if name == 'a' else 'stderr'} {'F' if is_whole else 'P'} {text}\n"
        for number, (name, text, is_whole) in enumerate(lines)
    )


def docker(lines: Sequence[Line]) -> str:
    rows = (
        {
            "log": f"{text}\n",
            "stream": "stdout" if name == "a" else "stderr",
            "time": f"2026-11-21T11:07:58.{number:09d}Z",
        }
        for number, (name, text, _) in enumerate(lines)
    )
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def filebeat(lines: Sequence[Line]) -> str:
    rows = (
        {
            "@timestamp": f"2026-11-21T11:07:58.{number % 1000:03d}Z",
            "message": text,
            "agent": {"name": "node"},
            "kubernetes": {"pod_name": f"{name}-0"},
        }
        for number, (name, text, _) in enumerate(lines)
    )
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def compose(lines: Sequence[Line]) -> str:
    return "".join(f"{name}-1  | {text}\n" for name, text, _ in lines)


def nested(lines: Sequence[Line]) -> str:
    return cri([("a", text.removesuffix("\n"), True) for text in compose(lines).splitlines()])


WRAPPERS: Final[dict[str, Callable[[Sequence[Line]], str]]] = {
    "cri": cri,
    "docker": docker,
    "carrier": filebeat,
    "compose": compose,
    "cri+compose": nested,
}
LINES: Final = st.lists(
    st.tuples(
        st.sampled_from("aab"),
        st.one_of(
            st.tuples(st.sampled_from(HEADERS), st.integers(0, 59)).map(lambda one: one[0].format(one[1], one[1])),
            st.sampled_from(MORE),
        ),
        st.sampled_from([True, True, True, False]),
    ),
    min_size=20,
    max_size=90,
)


def source_of(path: Path) -> SourceFile:
    source = inspect_file(path)
    assert isinstance(source, SourceFile)
    return source


def read(source: SourceFile, split_bytes: int) -> tuple[Sequence[LogEvent], SourceSummary]:
    scans: list[SplitScan] = [scan_split(split, CLASSIFIER) for split in plan_splits(source, split_bytes)]
    return tuple(number_lines(scans)), summarize(source, [one.counts for one in scans])


def shorten_spans(monkeypatch: pytest.MonkeyPatch, span_bytes: int) -> None:
    for module in (wrappers, peeled):
        monkeypatch.setattr(module, "SPAN_BYTES", span_bytes)
    monkeypatch.setattr(scan, "WRAPPED_MARGINS", Margins(span_bytes + 1, span_bytes, has_whole_lines=True))


def as_written(lines: Sequence[Line]) -> Iterator[Line]:
    """Yield lines that are cut at most once; the first lines decide which wrapper it is."""
    yield from (("a", HEADERS[1].format(7, 7), True) for _ in range(9))
    is_cut = dict.fromkeys("ab", False)
    for name, text, is_whole in lines:
        yield name, text, is_whole or is_cut[name]
        is_cut[name] = not (is_whole or is_cut[name])


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("span_bytes", [700, wrappers.SPAN_BYTES])
def test_every_cut_gives_the_same_events(
    wrapper: str, span_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shorten_spans(monkeypatch, span_bytes)
    path = tmp_path / "x.log"

    @settings(max_examples=15, deadline=None)
    @given(LINES, st.integers(200, 3_000))
    def check(lines: Sequence[Line], split_bytes: int) -> None:
        path.write_text(WRAPPERS[wrapper](list(as_written(lines))), "utf-8")
        source = source_of(path)
        assert source.wrapper == wrapper
        assert source.splittable
        (events, summary), (expected, whole_summary) = read(source, split_bytes), read(source, 1 << 30)
        assert events == expected
        # Irrelevant records are counted without being read, and which ones depends on the cuts.
        assert summary._replace(truncated_count=0) == whole_summary._replace(truncated_count=0)
        counted = (count_exceptions(split).counts for split in plan_splits(source, split_bytes))
        [whole] = plan_splits(source, 1 << 30)
        assert merge_counts(one for part in counted for one in part) == merge_counts(count_exceptions(whole).counts)

    check()


def test_a_record_ends_where_its_stream_pauses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shorten_spans(monkeypatch, 4_000)
    path = tmp_path / "x.log"
    between = [("a", HEADERS[1].format(8, 8), True)] * 100
    first, late = ("b", HEADERS[0].format(7, 7), True), ("b", MORE[0], True)
    path.write_text(cri([*between[:9], first, ("b", MORE[2], True), *between, late]), "utf-8")
    events, summary = read(source_of(path), 1 << 30)
    assert [event.exception.root_class for event in events if event.exception] == [
        "java.lang.IllegalStateException",
        "org.apache.kafka.common.errors.ProducerFencedException",
    ]
    assert summary.unmatched_line_count == 1


def test_a_line_that_is_longer_than_a_part_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    failed = HEADERS[0].format(7, 7)
    lines = [("a", HEADERS[1].format(8, 8), True)] * 9 + [("a", f"{failed} {'x' * 70_000}", True), ("a", MORE[0], True)]
    path.write_text(docker(lines), "utf-8")
    whole = read(source_of(path), 1 << 30)
    assert len(whole[0]) == 1
    for split_bytes in (5_000, 40_001):
        assert read(source_of(path), split_bytes) == whole
