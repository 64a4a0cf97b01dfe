"""Compressed logs are scanned as a stream: the same events, with one window of the content in memory."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from eosctl.logs import scan
from eosctl.logs.classifier.classify import Classifier
from eosctl.logs.files.content import REPLACED, Margins, inflated_windows, last_inflated, read_content
from eosctl.logs.files.sources import SourceFile, inspect_file
from eosctl.logs.scan import plan_splits, scan_split
from eosctl.logs.tally import SplitCounts, SplitScan
from eosctl.logs.traces import count_exceptions

PLAIN = Path(__file__).parents[1] / "fixtures" / "logs" / "poison-record-392" / "stream-1.log"
CODECS: tuple[Callable[[bytes], bytes], ...] = (gzip.compress, bz2.compress, lzma.compress)


def source_of(path: Path) -> SourceFile:
    source = inspect_file(path)
    assert isinstance(source, SourceFile)
    return source


def scanned(path: Path) -> SplitScan:
    [split] = plan_splits(source_of(path))
    found = scan_split(split, Classifier())
    return found._replace(events=tuple(event._replace(file="") for event in found.events))


@pytest.mark.parametrize("compress", CODECS)
@pytest.mark.parametrize("piece_bytes", [97, 5_000])
def test_pieces_give_the_events_of_the_plain_file(
    compress: Callable[[bytes], bytes], piece_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = tmp_path / "stream-1.log.packed"
    packed.write_bytes(compress(PLAIN.read_bytes()))
    monkeypatch.setattr(scan, "PIECE_BYTES", piece_bytes)
    there = scanned(packed)
    assert there.events
    assert [event._replace(application="") for event in there.events] == [
        event._replace(application="") for event in scanned(PLAIN).events
    ]
    assert there.counts == scanned(PLAIN).counts


@pytest.mark.parametrize("size", [0, 1, 6, 7, 8, 100, 700_001])
def test_windows_hold_each_part_and_what_is_beyond_it(size: int, tmp_path: Path) -> None:
    content = bytes(place % 251 for place in range(size))
    (tmp_path / "a.gz").write_bytes(gzip.compress(content))
    step, beyond = (7, 3) if size < 1_000 else (100_000, 3_000)
    windows = list(inflated_windows(tmp_path / "a.gz", step, Margins(1, beyond)))
    assert [window.base for window in windows] == [max(0, place * step - 1) for place in range(len(windows))]
    assert len(windows) == max(1, -(-size // step))
    for window in windows:
        assert window.data == content[window.base : window.base + len(window.data)]
        assert len(window.data) <= step + beyond + 1
    for place, window in enumerate(windows[:-1]):
        assert window.base + len(window.data) == min(size, (place + 1) * step + beyond)
    assert windows[-1].base + len(windows[-1].data) == size


def test_a_damaged_file_is_read_up_to_its_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = tmp_path / "stream-1.log.gz"
    packed.write_bytes(gzip.compress(PLAIN.read_bytes())[:-2_000])
    monkeypatch.setattr(scan, "PIECE_BYTES", 5_000)
    there = scanned(packed)
    assert there.counts.error.startswith("gzip: ")
    here = scanned(PLAIN).events
    assert 0 < len(there.events) < len(here)
    assert [event.offset for event in there.events[:-1]] == [event.offset for event in here[: len(there.events) - 1]]


def test_another_file_in_its_place_is_not_read(tmp_path: Path) -> None:
    packed = tmp_path / "stream-1.log.gz"
    packed.write_bytes(gzip.compress(PLAIN.read_bytes()))
    [split] = plan_splits(source_of(packed))
    packed.write_bytes(gzip.compress(PLAIN.read_bytes()[::-1], mtime=7))
    assert scan_split(split, Classifier()) == SplitScan((), SplitCounts(error=REPLACED))


def test_exceptions_of_a_compressed_file_are_counted(tmp_path: Path) -> None:
    packed = tmp_path / "stream-1.log.gz"
    packed.write_bytes(gzip.compress(PLAIN.read_bytes()))
    [there], [here] = plan_splits(source_of(packed)), plan_splits(source_of(PLAIN))
    counted = [(one.key, one.event_count, one.offset) for one in count_exceptions(here).counts]
    assert [(one.key, one.event_count, one.offset) for one in count_exceptions(there).counts] == counted != []


@pytest.mark.parametrize("compress", CODECS)
@pytest.mark.parametrize("length", [0, 1, 99, 100, 101, 250_000, 900_000])
def test_the_end_is_read_with_its_place(
    compress: Callable[[bytes], bytes], length: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = random.Random(length).choices(b"ab\n", k=length)
    path = tmp_path / "a.packed"
    path.write_bytes(compress(bytes(content)))
    monkeypatch.setattr("eosctl.logs.files.content.read_content", None)  # Never the whole file.
    for size in (100, 200_000):
        tail = last_inflated(path, size)
        assert tail.data == bytes(content[-size:])
        assert tail.base == length - len(tail.data)
        assert tail.newline_count == bytes(content[: tail.base]).count(b"\n")


def test_a_document_that_inflates_beyond_the_limit_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.log.gz"
    path.write_bytes(gzip.compress(bytes(5_000_000) + PLAIN.read_bytes() + b"x" * 50_000_000))
    assert source_of(path).wrapper == "nuls"
    monkeypatch.setattr("eosctl.logs.files.content.MAX_INFLATED_BYTES", 10_000_000)
    tracemalloc.start()
    try:
        content = read_content(path)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert content.error == "cut after 10000000 bytes"
    assert most < 2 * len(content.data) < 25_000_000


@pytest.mark.parametrize("compress", CODECS)
def test_a_packed_log_after_copytruncate_is_recognized(compress: Callable[[bytes], bytes], tmp_path: Path) -> None:
    for name, pack in (("stream.log", bytes), ("stream.log.packed", compress)):
        (tmp_path / name).write_bytes(pack(bytes(1_500_000) + PLAIN.read_bytes()))
    plain, packed = scanned(tmp_path / "stream.log"), scanned(tmp_path / "stream.log.packed")
    assert len(packed.events) == len(plain.events) == len(scanned(PLAIN).events) > 0
    assert source_of(tmp_path / "stream.log.packed").verdict == source_of(PLAIN).verdict
