"""The files that a node's log lines go to: layout, one write a turn, rotation, and reading them back."""

from __future__ import annotations

from pathlib import Path

from eosctl.sandbox.logging.log_files import KEPT_FILE_COUNT, LogFiles
from eosctl.sandbox.logging.log_reader import LogReader
from eosctl.sandbox.ticks import Ticks
from tests.sandbox.harness import VirtualLoop

NOON_MS = 1_795_262_591_123  # 2026-11-21 12:03:11.123 UTC


class Disk:
    def __init__(self, folder: Path, max_file_bytes: int = 10_000) -> None:
        self.loop = VirtualLoop()
        self.folder = folder
        self.now_ms = NOON_MS
        self.files = LogFiles(folder, lambda: self.now_ms, Ticks(self.loop), max_file_bytes=max_file_bytes)

    def turn(self) -> None:
        self.loop.run(self.loop.time())

    def text(self, name: str = "server.log") -> str:
        return (self.folder / name).read_text()


def test_a_line_has_kafkas_layout_and_its_exception_below_it(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    disk.files.write("kafka.server.X", "something is wrong", level="ERROR", throwable="java.lang.E: because")
    disk.turn()
    assert disk.text() == (
        "[2026-11-21 12:03:11,123] ERROR something is wrong (kafka.server.X)\njava.lang.E: because\n"
    )


def test_lines_are_written_per_turn_to_the_loggers_file(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    disk.files.write("org.apache.kafka.controller.QuorumController", "c")
    disk.files.write("state.change.logger", "s")
    disk.files.write("kafka.authorizer.logger", "a")
    disk.files.write("kafka.server.BrokerServer", "b")
    assert list(tmp_path.iterdir()) == []
    disk.turn()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "controller.log",
        "kafka-authorizer.log",
        "server.log",
        "state-change.log",
    ]


def test_files_rotate_by_size_and_the_oldest_go(tmp_path: Path) -> None:
    disk = Disk(tmp_path, max_file_bytes=200)
    for number in range(40):
        disk.files.write("kafka.X", f"line {number:02d} {'x' * 60}")
        disk.turn()
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["server.log", *(f"server.log.{number}" for number in range(1, KEPT_FILE_COUNT + 1))]
    assert all(path.stat().st_size <= 200 for path in tmp_path.iterdir())
    assert "line 39" in disk.text()
    newest_rotated, oldest = disk.text("server.log.1"), disk.text(f"server.log.{KEPT_FILE_COUNT}")
    assert newest_rotated > oldest, "the lowest number is the newest"


def test_a_restarted_node_continues_its_file(tmp_path: Path) -> None:
    for _ in range(2):
        disk = Disk(tmp_path)
        disk.files.write("kafka.X", "hello")
        disk.files.close()
    assert disk.text().count("hello") == 2


def test_unwritable_lines_are_dropped_and_later_ones_written(tmp_path: Path) -> None:
    blocker = tmp_path / "logs"
    blocker.write_text("a file where the folder should be")
    disk = Disk(blocker)
    disk.files.write("kafka.X", "lost")
    disk.turn()
    blocker.unlink()
    disk.files.write("kafka.X", "kept")
    disk.turn()
    assert "kept" in disk.text()
    assert "lost" not in disk.text()


def test_records_of_several_nodes_are_read_once_in_time_order(tmp_path: Path) -> None:
    one, two = Disk(tmp_path / "broker-1"), Disk(tmp_path / "broker-2")
    two.files.write("kafka.X", "first")
    two.turn()
    one.now_ms += 5
    one.files.write("kafka.X", "second", throwable="java.E: why")
    one.turn()
    reader = LogReader(tmp_path)
    assert reader.nodes() == ["broker-1", "broker-2"]
    found = reader.read()
    assert [record.node for record in found] == ["broker-2", "broker-1"]
    assert found[1].text.endswith("\njava.E: why")
    assert reader.read() == []
    one.files.write("kafka.X", "third")
    one.turn()
    assert [record.text for record in reader.read()] == ["[2026-11-21 12:03:11,128] INFO third (kafka.X)"]
    assert [record.node for record in LogReader(tmp_path, ["broker-1"]).read(1)] == ["broker-1"]


def test_a_reader_follows_a_file_through_its_rotation(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "broker-1", max_file_bytes=150)
    reader = LogReader(tmp_path)
    seen = []
    for number in range(6):
        disk.files.write("kafka.X", f"line {number} {'x' * 60}")
        disk.turn()
        seen += [record.text.split()[4] for record in reader.read()]
    assert seen == ["0", "1", "2", "3", "4", "5"]
