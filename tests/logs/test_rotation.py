"""Logs that are rotated while they are followed: each record is delivered once, also if the reader is killed."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest

from eosctl.logs.classifier.classify import Classifier
from eosctl.logs.positions import PositionStore
from eosctl.logs.tail import RETAINED_MS, TailLossError, find_ends, plan_tail, read_tail

CLASSIFIER: Final = Classifier()
LINE: Final = (
    "[2026-11-26 10:00:{:02d},000] INFO [TransactionCoordinator id=1] Initialized transactionalId t-{} with "
    "producerId {} and producer epoch 0 on partition __transaction_state-1 "
    "(kafka.coordinator.transaction.TransactionCoordinator)\n"
)


class KilledError(Exception):
    pass


class Query:
    """A query as Spark runs it: offsets are written before a batch is read, and a sink keeps a batch by its number."""

    def __init__(self, logs: Path, state: Path) -> None:
        self.logs = logs
        self.state = state
        for folder in ("offsets", "commits", "sink"):
            (state / folder).mkdir(parents=True, exist_ok=True)

    def run(self, kill_at: str = "") -> None:
        """Run what a restarted query runs: the batch that was planned and not committed, then a new one."""
        planned = len(list((self.state / "offsets").iterdir()))
        committed = len(list((self.state / "commits").iterdir()))
        if planned > committed:
            self._read(planned - 1, kill_at)
        start = self._offsets(planned - 1)
        end = PositionStore().encode(find_ends([self.logs], PositionStore().decode(start), idle_ms=0))
        if end == start:
            return
        (self.state / "offsets" / str(planned)).write_text(json.dumps(end))
        if kill_at == "planned":
            raise KilledError
        self._read(planned, kill_at)

    def _offsets(self, batch: int) -> dict[str, list[object]]:
        offsets: dict[str, list[object]] = {}
        if batch >= 0:
            offsets = json.loads((self.state / "offsets" / str(batch)).read_text())
        return offsets

    def _read(self, batch: int, kill_at: str) -> None:
        plan = plan_tail(PositionStore().decode(self._offsets(batch - 1)), PositionStore().decode(self._offsets(batch)))
        if plan.losses:
            raise TailLossError(str(plan.losses[0]))
        rows = [event.fields["transactional_id"] for part in plan.parts for event in read_tail(part, CLASSIFIER)]
        (self.state / "sink" / str(batch)).write_text(json.dumps(rows))
        if kill_at == "read":
            raise KilledError
        (self.state / "commits" / str(batch)).touch()

    def delivered(self) -> Counter[str]:
        return Counter(one for file in (self.state / "sink").iterdir() for one in json.loads(file.read_text()))


def compress(log: Path) -> None:
    log.with_name("server.log.1.gz").write_bytes(gzip.compress(log.read_bytes()))
    log.unlink()


def copy_and_truncate(log: Path) -> None:
    shutil.copy(log, log.with_name("server.log.1"))
    os.truncate(log, 0)


def rename(log: Path) -> None:
    log.rename(log.with_name("server.log.1"))


def rename_and_compress(log: Path) -> None:
    rename(log)
    compress(log.with_name("server.log.1"))


def put_aside(log: Path) -> None:
    log.rename(log.parents[1] / "aside")


def bring_back(log: Path) -> None:
    (log.parents[1] / "aside").rename(log.with_name("server.log.1"))


def bring_back_a_copy(log: Path) -> None:
    shutil.copy(log.parents[1] / "aside", log.with_name("server.log.1"))


def nothing(_: Path) -> None:
    pass


def written(log: Path, first: int, last: int) -> None:
    with log.open("a") as file:
        file.writelines(LINE.format(number, number, number) for number in range(first, last))


@pytest.mark.parametrize("kill_at", ["", "planned", "read"])
@pytest.mark.parametrize("unread", [0, 3], ids=["all was read", "some was not read"])
@pytest.mark.parametrize(
    ("rotate", "then"),
    [
        (rename, nothing),
        (compress, nothing),
        (copy_and_truncate, nothing),
        (rename_and_compress, nothing),
        (put_aside, bring_back),
        (put_aside, bring_back_a_copy),
    ],
)
def test_ten_written_are_ten_delivered(
    tmp_path: Path, rotate: Callable[[Path], None], then: Callable[[Path], None], unread: int, kill_at: str
) -> None:
    log, state = tmp_path / "logs" / "server.log", tmp_path / "state"
    log.parent.mkdir()
    written(log, 0, 7 - unread)
    Query(log.parent, state).run()
    written(log, 7 - unread, 7)
    if kill_at:
        with suppress(KilledError):
            Query(log.parent, state).run(kill_at)
    rotate(log)
    # Where a planned file is away, the query fails until it is back.
    with suppress(TailLossError):
        Query(log.parent, state).run()
    then(log)
    written(log, 7, 10)
    for _ in range(3):
        Query(log.parent, state).run()
    assert Query(log.parent, state).delivered() == Counter(f"t-{number}" for number in range(10))


@pytest.mark.parametrize("rotations", [1, 3])
@pytest.mark.parametrize("rotate", [rename, compress, copy_and_truncate, rename_and_compress])
def test_a_named_file_is_read_to_its_end_when_rotated(
    tmp_path: Path, rotate: Callable[[Path], None], rotations: int
) -> None:
    log, state = tmp_path / "logs" / "server.log", tmp_path / "state"
    log.parent.mkdir()
    (log.parent / "other.log").write_text(LINE.format(59, 59, 59))
    for number in range(0, 10 * rotations, 10):
        written(log, number, number + 4)
        Query(log, state).run()
        written(log, number + 4, number + 7)
        rotate(log)
        written(log, number + 7, number + 10)
        for _ in range(3):
            Query(log, state).run()
        with suppress(FileNotFoundError):
            (log.parent / "server.log.1").rename(log.parent / f"server.log.{number + 2}")
    assert Query(log, state).delivered() == Counter(f"t-{number}" for number in range(10 * rotations))


def test_a_vanished_range_is_reported(tmp_path: Path) -> None:
    log, state = tmp_path / "logs" / "server.log", tmp_path / "state"
    log.parent.mkdir()
    written(log, 0, 10)
    size = log.stat().st_size
    with pytest.raises(KilledError):
        Query(log.parent, state).run("planned")
    log.unlink()
    with pytest.raises(TailLossError, match=rf"server\.log no longer exists, and {size:,} bytes of it \(from"):
        Query(log.parent, state).run()


def test_a_copy_gives_only_what_is_new_in_it(tmp_path: Path) -> None:
    log, state = tmp_path / "logs" / "server.log", tmp_path / "state"
    log.parent.mkdir()
    written(log, 0, 5)
    Query(log.parent, state).run()
    shutil.copy(log, log.with_name("copy.log"))
    Query(log.parent, state).run()
    written(log.with_name("copy.log"), 5, 7)
    log.unlink()
    Query(log.parent, state).run()
    assert Query(log.parent, state).delivered() == Counter(f"t-{number}" for number in range(7))


def test_logs_that_begin_alike_are_two_logs(tmp_path: Path) -> None:
    logs, state = tmp_path / "logs", tmp_path / "state"
    logs.mkdir()
    written(logs / "a.log", 0, 3)
    Query(logs, state).run()
    (logs / "a.log").unlink()
    (logs / "b.log").write_text(LINE.format(0, 0, 0))
    written(logs / "b.log", 3, 9)
    Query(logs, state).run()
    assert Query(logs, state).delivered() == Counter([f"t-{number}" for number in range(9)] + ["t-0"])


def test_positions_are_kept_for_a_week(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    written(log, 0, 3)
    known = find_ends([log], {}, idle_ms=0, now_ms=lambda: 1 << 42)
    log.unlink()
    away = find_ends([log], known, idle_ms=0, now_ms=lambda: 1 << 42)
    assert [one.gone_ms for one in away.values()] == [1 << 42]
    assert find_ends([log], away, idle_ms=0, now_ms=lambda: (1 << 42) + RETAINED_MS - 1) == away
    assert find_ends([log], away, idle_ms=0, now_ms=lambda: (1 << 42) + RETAINED_MS) == {}
