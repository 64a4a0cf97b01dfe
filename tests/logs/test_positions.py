"""Offsets of a stream: they stay small with many files, and a restart reads each event once."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from eosctl.logs import tail
from eosctl.logs.classifier.classify import Classifier
from eosctl.logs.files.content import read_head
from eosctl.logs.positions import KEPT_FILES, MissingPositionsError, PositionStore
from eosctl.logs.tail import UnchangedFiles, find_ends, plan_tail, read_tail

LINE = "[2026-11-26 10:00:00,{:03d}] ERROR failed {} (a.B)\njava.lang.IllegalStateException: no\n"
CLASSIFIER = Classifier()
ROTATED = 2_000
SMALL_BYTES = 16 * 1024


class Query:
    """Reads like a query of Spark's; each batch may follow a restart, so that only the offset is left."""

    def __init__(self, logs: Path, positions: Path | None) -> None:
        self.logs, self.positions = logs, positions
        self.offset: dict[str, Any] = {}
        self.delivered: Counter[str] = Counter()

    def batch(self) -> int:
        """Read what is new, and return the size of the offset in the checkpoint."""
        planner, reader = PositionStore(self.positions), PositionStore(self.positions)
        end = json.loads(json.dumps(planner.encode(find_ends([self.logs], planner.decode(self.offset), idle_ms=0))))
        plan = plan_tail(reader.decode(self.offset), reader.decode(end))
        assert not plan.losses
        for part in plan.parts:
            self.delivered.update(event.message for event in read_tail(part, CLASSIFIER))
        self.offset = end
        return len(json.dumps(end))


def write(path: Path, number: int, mode: str = "w") -> None:
    with path.open(mode, encoding="utf-8") as file:
        file.write(LINE.format(number % 1000, number))


def test_offsets_with_many_rotated_files_stay_small(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    query = Query(logs, tmp_path / "positions")
    for number in range(ROTATED):
        write(logs / f"server.log.{number}", number)
    sizes = [query.batch()]
    # What an offset names may be renamed, grow, disappear, or follow.
    (logs / "server.log.7").rename(logs / "server.log.old")
    write(logs / "server.log.9", 9_000, mode="a")
    (logs / "server.log.11").unlink()
    for number in range(ROTATED, ROTATED + 30):
        write(logs / f"server.log.{number}", number)
        sizes.append(query.batch())
    for number in range(100, 400):
        (logs / f"server.log.{number}").unlink()
    sizes += [query.batch(), query.batch()]
    assert max(sizes) < SMALL_BYTES
    assert set(query.delivered.values()) == {1}
    assert len(query.delivered) == ROTATED + 31
    assert len(list((tmp_path / "positions").iterdir())) <= KEPT_FILES


def test_offsets_without_a_folder_hold_all_positions(tmp_path: Path) -> None:
    query = Query(tmp_path, None)
    for number in range(70):
        write(tmp_path / f"a.log.{number}", number)
    assert query.batch() == query.batch() > 70 * 60
    assert set(query.delivered.values()) == {1}


def test_missing_positions_end_the_stream(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    query = Query(logs, tmp_path / "positions")
    for number in range(70):
        write(logs / f"a.log.{number}", number)
    query.batch()
    query.positions = None
    with pytest.raises(MissingPositionsError, match="Set the option positions"):
        query.batch()
    query.positions = tmp_path / "others"
    with pytest.raises(MissingPositionsError, match="cannot be read: No such file"):
        query.batch()


def test_finished_files_are_not_opened_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        write(tmp_path / f"a.log.{number}", number)
        os.utime(tmp_path / f"a.log.{number}", (1_760_000_000, 1_760_000_000))
    unchanged = UnchangedFiles()
    first = find_ends([tmp_path], {}, unchanged=unchanged)
    opened: list[Path] = []

    def noted(path: Path, *rest: int) -> bytes:
        opened.append(path)
        return read_head(path, *rest)

    monkeypatch.setattr(tail, "read_head", noted)
    assert find_ends([tmp_path], first, unchanged=unchanged) == first
    assert opened == []
    write(tmp_path / "a.log.3", 3_000, mode="a")
    assert find_ends([tmp_path], first, idle_ms=0, unchanged=unchanged) != first
    assert set(opened) == {tmp_path / "a.log.3"}
