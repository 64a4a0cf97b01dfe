"""The log cleaner keeps what a reader must still find, the producers' state, and nothing twice."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eosctl.sandbox.log.cleaning.cleaner import Interrupted, LogCleaning
from eosctl.sandbox.log.cleaning.plan import plan_cleaning
from eosctl.sandbox.log.partition_log import PartitionLog
from tests.sandbox.log_life.logs import COMPACTED, NOW, Disk, Ended, Seen, Sent, read_committed

DAY_MS = 86_400_000

keys = st.sampled_from([b"a", b"b", b"c", b"d", None])
values = st.sampled_from([b"1", b"22" * 9, None])
records = st.lists(st.tuples(keys, values), min_size=1, max_size=3).map(tuple)
batches = st.builds(
    lambda producer_id, content: Sent(producer_id, producer_id > 1, content), st.sampled_from([-1, 1, 2, 3]), records
)
histories = st.lists(st.one_of(batches, st.builds(Ended, st.sampled_from([2, 3]), st.booleans())), max_size=50)


def survivors(before: list[Seen], clean_until: int, *, tombstones: bool) -> list[Seen]:
    """Return the expected records after compaction: the newest committed record of each key."""
    newest = {seen.key: seen.offset for seen in before if seen.offset < clean_until}
    return [
        seen
        for seen in before
        if seen.offset >= clean_until
        or (seen.key is not None and newest[seen.key] == seen.offset and (tombstones or seen.value is not None))
    ]


def sequences(log: PartitionLog) -> dict[int, tuple[int, int]]:
    """Return the sequences that a producer's next batch is checked against; as in Kafka, empty markers have none."""
    return {
        entry.producer_id: (entry.producer_epoch, entry.last_sequence)
        for entry in log.producers.producers.values()
        if entry.last_sequence >= 0
    }


@settings(max_examples=40, deadline=None)
@given(first=histories, second=histories, clean_stop=st.booleans())
def test_a_reader_finds_the_newest_record_of_each_key(
    tmp_path_factory: Any, first: list[Sent | Ended], second: list[Sent | Ended], clean_stop: bool
) -> None:
    disk = Disk(tmp_path_factory.mktemp("log"))
    disk.write(*first)
    before = read_committed(disk.log)
    once = survivors(before, disk.clean(), tombstones=True)
    assert read_committed(disk.log) == once
    disk.write(*second)
    expected = [*once, *read_committed(disk.log)[len(once) :]]
    end, state = disk.log.end_offset, sequences(disk.log)
    # Horizons of the first round have passed; a tombstone that the second one meets first stays once more.
    old_end = disk.log.cleaned_until
    clean_until = disk.clean(NOW + 2 * DAY_MS)
    left = read_committed(disk.log)
    with_tombstones = survivors(expected, clean_until, tombstones=True)
    assert set(left) <= set(with_tombstones)
    assert [seen for seen in with_tombstones if seen.value is not None or seen.offset >= max(old_end, 0)] == [
        seen for seen in left if seen.value is not None or seen.offset >= max(old_end, 0)
    ]
    disk.reopen(clean=clean_stop)
    assert read_committed(disk.log) == left
    assert disk.log.end_offset == end
    assert sequences(disk.log) == state
    disk.log.rebuild_producers()
    assert sequences(disk.log) == state, "each producer's newest batch or marker was kept, if empty"


def filled(path: Path) -> Disk:
    """Six segments with an aborted, a committed and an open transaction, tombstones and updates."""
    disk = Disk(path)
    for number in range(6):
        disk.write(
            Sent(2, True, ((b"gone", b"x" * 40), (b"other", b"x"))),
            Ended(2, False),
            Sent(3, True, ((b"kept", b"%d" % number), (b"dead", None))),
            Ended(3, True),
            Sent(1, False, ((b"k%d" % number, b"y" * 60),)),
        )
    disk.write(Sent(2, True, ((b"open", b"1"),)))
    disk.write(*[Sent(-1, False, ((b"late", b"z" * 50),)) for _ in range(12)])
    disk.ticks.run()
    return disk


def test_nothing_from_the_first_open_transaction_on_is_cleaned(tmp_path: Path) -> None:
    disk = filled(tmp_path)
    stable = disk.log.last_stable_offset()
    before = [seen for seen in read_committed(disk.log) if seen.offset >= stable]
    assert disk.clean() <= stable
    assert [seen for seen in read_committed(disk.log) if seen.offset >= stable] == before
    plan = plan_cleaning(disk.log, NOW)
    assert plan is not None and plan.cleanable_bytes == 0


def horizons(disk: Disk) -> list[int | None]:
    return [header.delete_horizon_ms for header, _ in disk.log.batches() if header.is_control]


def test_aborted_data_is_removed_first_and_its_marker_later(tmp_path: Path) -> None:
    disk = filled(tmp_path)
    disk.write(Ended(2, True))
    more = [Sent(1, False, ((b"more", b"z" * 90),)) for _ in range(9)]
    disk.write(*more)
    disk.clean()
    data = [header for header, _ in disk.log.batches() if header.producer_id == 2 and not header.is_control]
    assert [header.base_offset for header in data] == [42], "aborted data goes, the committed transaction stays"
    assert disk.log.aborted_transactions(0, disk.log.end_offset), "the pass that saw the data keeps the index"
    assert set(horizons(disk)) == {None}
    disk.write(*more)
    disk.clean()
    empty = horizons(disk).count(NOW + DAY_MS)
    assert empty == 6 + 5, "the next pass finds the aborted transactions empty, and those whose records were replaced"
    assert disk.log.aborted_transactions(0, 42) == []
    disk.write(*more)
    disk.clean(NOW + DAY_MS - 1)
    assert horizons(disk).count(NOW + DAY_MS) == empty
    disk.write(*more)
    disk.clean(NOW + DAY_MS)
    assert NOW + DAY_MS not in horizons(disk)


def test_segments_are_joined_up_to_their_size(tmp_path: Path) -> None:
    disk = filled(tmp_path)
    before = len(disk.log.store.segments)
    disk.log.apply_settings(replace(COMPACTED, segment_bytes=1000))
    disk.clean()
    segments = disk.log.store.segments
    assert len(segments) < before
    assert all(segment.size_bytes <= 1000 for segment in segments)


def test_a_cleaning_with_too_many_keys_continues_later(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    disk.write(*[Sent(-1, False, ((b"%d" % (number % 10), b"x" * 40),)) for number in range(60)])
    before = read_committed(disk.log)
    first = disk.clean(max_keys=4)
    assert 0 < first < disk.log.store.segments[-1].base_offset
    assert read_committed(disk.log) == survivors(before, first, tombstones=True)
    while (until := disk.clean(max_keys=4)) < disk.log.store.segments[-1].base_offset and until > first:
        first = until
    assert {seen.key for seen in read_committed(disk.log)} == {seen.key for seen in before}


def test_young_segments_wait(tmp_path: Path) -> None:
    disk = Disk(tmp_path, replace(COMPACTED, min_compaction_lag_ms=1000))
    disk.write(*[Sent(-1, False, ((b"a", b"x" * 90),)) for _ in range(9)])
    disk.write(*[Sent(-1, False, ((b"a", b"x" * 90),)) for _ in range(9)], now_ms=NOW + 5000)
    first_young = next(found.base_offset for found in disk.log.store.segments if found.largest_timestamp > NOW)
    assert disk.clean(NOW + 5000) == first_young
    assert disk.clean(NOW + 9000) > first_young


def test_max_compaction_lag_overrules_the_ratio(tmp_path: Path) -> None:
    disk = Disk(tmp_path, replace(COMPACTED, max_compaction_lag_ms=1000, min_cleanable_dirty_ratio=1.0))
    disk.write(*[Sent(-1, False, ((b"a", b"x" * 90),)) for _ in range(9)])
    for now_ms, is_due in ((NOW + 1000, False), (NOW + 1001, True)):
        plan = plan_cleaning(disk.log, now_ms)
        assert plan is not None and plan.needs_cleaning(1.0) is is_due
    disk.reopen(clean=True)
    plan = plan_cleaning(disk.log, NOW + 1001)
    assert plan is not None and plan.is_overdue, "also after a restart"


@pytest.mark.parametrize("change", [lambda log: log.truncate_to(3), lambda log: log.close(clean=False)])
def test_a_log_that_changes_meanwhile_is_left_alone(
    tmp_path: Path, change: Callable[[PartitionLog], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eosctl.sandbox.log.cleaning.cleaner.STEP_BYTES", 300)
    disk = filled(tmp_path)
    plan = plan_cleaning(disk.log, NOW)
    assert plan is not None
    steps = LogCleaning(disk.log, plan, NOW, 1000).steps()
    next(steps)
    change(disk.log)
    with pytest.raises(Interrupted):
        for _ in steps:
            pass
    assert not list(tmp_path.rglob("*.cleaned"))


def test_a_crash_at_any_step_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The directory as each rename leaves it, and as it is while files are written, opens to the same records."""
    disk = filled(tmp_path / "live")
    before = read_committed(disk.log)
    seen_states: list[Path] = []

    def note(path: Path) -> None:
        if path.is_relative_to(disk.path):  # and not what a thread of another test does meanwhile
            seen_states.append(tmp_path / f"crash-{len(seen_states)}")
            shutil.copytree(disk.path, seen_states[-1])

    replace, write_bytes = Path.replace, Path.write_bytes

    def noted_replace(self: Path, target: Path | str) -> Path:
        note(self)
        return replace(self, target)

    def noted_write(self: Path, data: bytes) -> int:
        note(self)
        return write_bytes(self, data)

    monkeypatch.setattr(Path, "replace", noted_replace)
    monkeypatch.setattr(Path, "write_bytes", noted_write)
    until = disk.clean()
    monkeypatch.undo()
    cleaned = read_committed(disk.log)
    assert cleaned == survivors(before, until, tombstones=True) != before
    assert len(seen_states) > 20
    for state in seen_states:
        files = sorted((path.name, path.stat().st_size) for path in state.rglob("*"))
        opened = Disk(state)
        found = read_committed(opened.log)
        assert set(cleaned) <= set(found) <= set(before), (state.name, files)
        assert found == sorted(found, key=lambda seen: seen.offset)
        assert opened.log.end_offset == disk.log.end_offset
        assert sequences(opened.log) == sequences(disk.log)
        assert not [path for path in state.rglob("*") if path.suffix in (".cleaned", ".swap", ".deleted")]
        assert opened.clean() == until
        assert read_committed(opened.log) == cleaned


def test_reading_continues_after_a_gap_at_a_segments_end(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    disk.write(*[Sent(-1, False, ((b"old", b"x" * 90),)) for _ in range(12)], Sent(-1, False, ((b"end", b"x" * 400),)))
    disk.write(Sent(-1, False, ((b"last", b"x" * 400),)))
    disk.clean()
    for offset in range(disk.log.end_offset):
        assert disk.log.read(offset, 1, disk.log.end_offset), f"stuck at {offset}"


def test_the_kept_snapshots_are_those_of_segments_and_the_newest(tmp_path: Path) -> None:
    disk = filled(tmp_path)
    for number in range(3):
        disk.write(Sent(1, False, ((b"again", b"%d" % number),)))
        disk.reopen(clean=True)
    disk.clean()
    disk.reopen(clean=True)
    bases = {segment.base_offset for segment in disk.log.store.segments}
    snapshots = {int(path.stem) for path in tmp_path.rglob("*.snapshot")}
    assert disk.log.end_offset in snapshots
    assert snapshots - {disk.log.end_offset} <= bases
