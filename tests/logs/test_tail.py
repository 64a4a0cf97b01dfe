"""Logs that are read while they grow: every event once, through rotation, truncation, and restarts."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest

from eosctl.logs import tail
from eosctl.logs.classifier.classify import Classifier
from eosctl.logs.positions import Position, PositionStore
from eosctl.logs.scan import scan_paths
from eosctl.logs.tail import (
    Admission,
    Loss,
    find_ends,
    find_sizes,
    plan_tail,
    read_tail,
)
from eosctl.model.log_event import LogEvent

FIXTURE = Path(__file__).parents[1] / "fixtures" / "logs" / "poison-record-392" / "stream-1.log"
ERROR = (
    "[2026-11-21 09:31:{:02d},670] ERROR failed {} (a.B)\njava.lang.IllegalStateException: no\n\tat a.B.c(D.java:1)\n"
)
CLASSIFIER = Classifier()


class Reader:
    """Reads like a query: first the ends, then the events in between; only JSON keeps its positions."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.checkpoint = PositionStore().encode({})
        self.events: list[LogEvent] = []
        self.losses: list[Loss] = []

    def read(self, *, idle: bool = False) -> None:
        start = PositionStore().decode(self.checkpoint)
        end = find_ends([self.folder], start, idle_ms=0 if idle else 1 << 40)
        plan = plan_tail(start, end)
        self.losses += plan.losses
        for part in plan.parts:
            self.events += read_tail(part, CLASSIFIER)
        self.checkpoint = PositionStore().encode(end)

    def rows(self) -> list[tuple[int, int, str, str]]:
        return [(event.offset, event.line, event.category, event.message) for event in self.events]


def known(path: Path) -> list[tuple[int, int, str, str]]:
    return [(event.offset, event.line, event.category, event.message) for event in scan_paths([path]).events]


def test_a_file_that_grows_in_pieces_gives_each_event_once(tmp_path: Path) -> None:
    chance = random.Random(5)
    data = FIXTURE.read_bytes()
    path, reader = tmp_path / "stream-1.log", Reader(tmp_path)
    written = 0
    with path.open("ab") as file:
        while written < len(data):
            size = chance.randrange(1, 30_000)
            file.write(data[written : written + size])
            file.flush()
            written += size
            reader.read()
    reader.read(idle=True)
    assert reader.rows() == known(FIXTURE)


def test_an_unchanged_file_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.log"
    path.write_text(ERROR.format(1, 1))
    ends = find_ends([path], {}, idle_ms=0)
    with monkeypatch.context() as patch:
        patch.setattr(tail, "inspect_file", lambda *_: pytest.fail("it was looked at"))
        assert find_ends([path], ends, idle_ms=0) == ends
        moved = path.rename(tmp_path / "a.log.1")
        assert [one.path for one in find_ends([moved], ends, idle_ms=0).values()] == [str(moved)]
    with moved.open("a") as file:
        file.write(ERROR.format(2, 2))
    assert find_ends([moved], ends, idle_ms=0) != ends


def test_the_last_event_waits_until_it_is_complete(tmp_path: Path) -> None:
    path, reader = tmp_path / "a.log", Reader(tmp_path)
    text = ERROR.format(1, "one") + ERROR.format(2, "two")
    path.write_text(text[:-30])
    reader.read()
    assert [event.message for event in reader.events] == ["failed one"]
    path.write_text(text)
    reader.read()
    assert len(reader.events) == 1
    reader.read(idle=True)
    assert [event.exception.root_class for event in reader.events if event.exception] == [
        "java.lang.IllegalStateException"
    ] * 2
    reader.read(idle=True)
    assert len(reader.events) == 2


@pytest.mark.parametrize(
    ("ending", "quiet_ms", "is_read"),
    [("\n", 99, False), ("\n", 100, True), ("", 399, False), ("", 400, True)],
)
def test_the_wait_for_a_line_without_an_end_is_longer(
    tmp_path: Path, ending: str, quiet_ms: int, is_read: bool
) -> None:
    path = tmp_path / "a.log"
    path.write_text(ERROR.format(1, "one").rstrip("\n") + ending)
    now_ms = path.stat().st_mtime_ns // 1_000_000 + quiet_ms
    [end] = find_ends([path], {}, idle_ms=100, now_ms=lambda: now_ms).values()
    assert end.offset == (path.stat().st_size if is_read else 0)


def test_a_file_that_was_renamed_is_not_read_again(tmp_path: Path) -> None:
    path, reader = tmp_path / "a.log", Reader(tmp_path)
    path.write_text(ERROR.format(1, "one") + ERROR.format(2, "two"))
    reader.read()
    path.rename(tmp_path / "a.log.1")
    path.write_text(ERROR.format(3, "three"))
    reader.read()
    reader.read(idle=True)
    assert sorted(event.message for event in reader.events) == ["failed one", "failed three", "failed two"]


def test_a_file_that_was_truncated_is_read_from_its_start(tmp_path: Path) -> None:
    path, reader = tmp_path / "a.log", Reader(tmp_path)
    path.write_text(ERROR.format(1, "one") + ERROR.format(2, "two"))
    reader.read(idle=True)
    with path.open("r+") as file:
        file.truncate(0)
        file.write(ERROR.format(3, "three"))
    reader.read(idle=True)
    assert reader.rows()[-1][:2] == (0, 1)
    assert [event.message for event in reader.events] == ["failed one", "failed two", "failed three"]


def test_a_file_overwritten_with_more_is_read_from_its_start(tmp_path: Path) -> None:
    path, reader = tmp_path / "a.log", Reader(tmp_path)
    path.write_text(ERROR.format(1, "one"))
    reader.read(idle=True)
    with path.open("r+") as file:
        file.truncate(0)
        file.write(ERROR.format(3, "three") + ERROR.format(4, "four"))
    reader.read(idle=True)
    assert [event.message for event in reader.events] == ["failed one", "failed three", "failed four"]


def test_late_lines_of_an_event_move_no_position_back(tmp_path: Path) -> None:
    path, reader = tmp_path / "a.log", Reader(tmp_path)
    path.write_text(ERROR.format(1, "one"))
    reader.read(idle=True)
    with path.open("a") as file:
        file.write("\tat e.F.g(H.java:2)\n")
    reader.read()
    with path.open("a") as file:
        file.write(ERROR.format(2, "two"))
    reader.read(idle=True)
    assert [(event.message, event.line) for event in reader.events] == [("failed one", 1), ("failed two", 5)]


def test_a_log_of_a_container_is_read_while_it_grows(tmp_path: Path) -> None:
    chance = random.Random(7)
    out = ERROR.format(1, "one").splitlines() + FIXTURE.read_text("utf-8").splitlines()[:3_000]
    errors = [line for number in range(400) for line in ERROR.format(number % 60, number).splitlines()]
    path, reader = tmp_path / "pod.log", Reader(tmp_path)
    places = {"stdout": 0, "stderr": 0}
    with path.open("a", encoding="utf-8") as file:
        while places["stdout"] < len(out):
            stream, lines = chance.choice((("stdout", out), ("stderr", errors)))
            taken = lines[places[stream] : places[stream] + chance.randrange(1, 90)]
            places[stream] += len(taken)
            file.writelines(f"2026-11-21T09:31:19.670000000Z {stream} F {line}\n" for line in taken)
            file.flush()
            reader.read()
    assert len(reader.events) > 100
    reader.read(idle=True)
    assert sorted(reader.rows()) == known(path)
    assert sum(row[3].startswith("failed") for row in reader.rows()) == places["stderr"] // 3 + 1


def test_archives_and_wrapped_files_are_read_once(tmp_path: Path) -> None:
    text = ERROR.format(1, "one") + ERROR.format(2, "two")
    (tmp_path / "a.log.gz").write_bytes(gzip.compress(text.encode()))
    pod = tmp_path / "pod.log"
    pod.write_text("".join(f"2026-11-21T09:31:19.670Z stdout F {line}\n" for line in text.splitlines()))
    reader = Reader(tmp_path)
    for _ in range(3):
        reader.read(idle=True)
    assert len(reader.events) == 4
    with pod.open("a") as file:
        file.writelines(f"2026-11-21T09:31:19.670Z stdout F {line}\n" for line in ERROR.format(3, "three").splitlines())
    reader.read(idle=True)
    assert [event.message for event in reader.events[4:]] == ["failed three"]


def test_positions_survive_as_json() -> None:
    positions = {"1:2": Position("/a", 3, 4, "ab")}
    assert PositionStore().decode(PositionStore().encode(positions)) == positions


@pytest.mark.parametrize("admission", [Admission(bytes=1), Admission(bytes=9_000), Admission(files=1)])
def test_limited_looks_read_each_event_once(admission: Admission, tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.log").write_text("".join(ERROR.format(at, number) for at in range(60)))
    (tmp_path / "3.log.gz").write_bytes(gzip.compress(ERROR.format(1, 3).encode() * 2))
    positions: dict[str, Position] = {}
    events: list[LogEvent] = []
    looks = 0
    while (ends := find_ends([tmp_path], positions, idle_ms=0, admission=admission)) != positions:
        parts = plan_tail(positions, ends).parts
        assert len(parts) == 1 or admission.bytes == 9_000
        for part in parts:
            found = read_tail(part, CLASSIFIER)
            assert found
            events += found
        positions, looks = ends, looks + 1
    assert looks >= {1: 90, 9_000: 3, None: 4}[admission.bytes]
    everything = scan_paths([tmp_path]).events
    assert sorted((one.file, one.offset, one.line) for one in events) == sorted(
        (one.file, one.offset, one.line) for one in everything
    )


def test_a_stream_to_its_end_stops_with_what_existed(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text(ERROR.format(1, 1) * 3)
    sizes = find_sizes([tmp_path])
    with path.open("a") as file:
        file.write(ERROR.format(2, 2))
    (tmp_path / "later.log").write_text(ERROR.format(3, 3))
    ends = find_ends([tmp_path], {}, idle_ms=0, sizes=sizes)
    (position,) = ends.values()
    assert (position.path, position.offset) == (str(path), 2 * len(ERROR.format(1, 1)))
    assert find_ends([tmp_path], ends, idle_ms=0, sizes=sizes) == ends
