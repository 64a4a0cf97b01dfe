"""Timestamps without a day in copied files: only other logs, or a name, give the day."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from eosctl.logs.files import dating
from eosctl.logs.layouts import Verdict
from eosctl.logs.records.record import Record
from eosctl.logs.records.scanner import scan_records
from eosctl.logs.scan import plan_scan, scan_paths

FENCED = "There is a newer producer with the same transactionalId which fences the current one."
ERROR = f"org.apache.kafka.common.errors.ProducerFencedException: {FENCED}"
NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
CLOCK = f"11:59:58.250 [main] ERROR c.a.Relay -- failed\n{ERROR}\n12:00:00.000 [main] INFO  c.a.Relay -- bye\n"
FULL = "[2026-11-20 09:00:00,000] INFO a (b.C)\n[2026-11-21 12:00:00,000] INFO b (b.C)\n"
AT = NOON - timedelta(seconds=1.75)


def write(folder: Path, name: str, text: str | bytes, written: datetime) -> None:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    os.utime(path, (written.timestamp(), written.timestamp()))


def times(folder: Path) -> list[datetime]:
    return [
        datetime.fromtimestamp(event.time_ms / 1000, UTC)
        for event in scan_paths([folder]).events
        if event.time_ms is not None
    ]


@pytest.mark.parametrize("later", [timedelta(0), timedelta(hours=3), timedelta(hours=17), timedelta(days=90)])
def test_logs_next_to_a_copied_log_give_its_day(later: timedelta, tmp_path: Path) -> None:
    write(tmp_path, "relay.log", CLOCK, NOON + later)
    write(tmp_path, "server.log", FULL, NOON + later)
    assert times(tmp_path) == [AT]


def test_the_newest_of_several_logs_gives_the_time_of_the_copy(tmp_path: Path) -> None:
    copied = NOON + timedelta(days=5)
    write(tmp_path, "relay.log", CLOCK, copied)
    write(tmp_path, "server.log", FULL, copied)
    write(tmp_path, "server.log.1", FULL.replace("2026-11-2", "2026-10-2"), copied)
    assert times(tmp_path) == [AT]


@pytest.mark.parametrize("pack", [gzip.compress, lambda text: text])
def test_wrapped_and_compressed_logs_give_the_day_too(pack: object, tmp_path: Path) -> None:
    assert callable(pack)
    copied = NOON + timedelta(days=5)
    lines = "".join(f"2026-11-21T12:00:00.000000000Z stdout F {line}\n" for line in ("a", "b"))
    write(tmp_path, "relay.log", pack(CLOCK.encode()), copied)
    write(tmp_path, "pod.log", pack(lines.encode()), copied)
    assert times(tmp_path) == [AT]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_only_the_end_of_a_packed_log_is_read_for_its_day(
    pack: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied, line = NOON + timedelta(days=5), FULL.splitlines(keepends=True)[0]
    write(tmp_path, "relay.log", CLOCK, copied)
    write(tmp_path, "server.log.packed", pack((line * 20_000 + FULL).encode()), copied)
    sizes: list[int] = []

    def scanned(data: bytes, verdict: Verdict) -> Iterator[Record]:
        sizes.append(len(data))
        return scan_records(data, verdict)

    monkeypatch.setattr(dating, "scan_records", scanned)
    assert times(tmp_path) == [AT]
    assert 10_000 < max(sizes) <= 65_536


def test_the_size_of_a_packed_log_does_not_matter_for_its_day(tmp_path: Path) -> None:
    line = FULL.encode() + b"[2026-11-21 12:00:01,000] INFO c (b.C) " + b"x" * 50_000_000
    write(tmp_path, "server.log.gz", gzip.compress(line, compresslevel=1), NOON)
    tracemalloc.start()
    try:
        [source], _ = plan_scan([tmp_path])
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert source.modified_ms == NOON.timestamp() * 1000
    assert most < 10_000_000


@pytest.mark.parametrize("longer", [timedelta(minutes=30), timedelta(hours=-3), timedelta(hours=-20)])
@pytest.mark.parametrize("later", [timedelta(minutes=40), timedelta(days=5)])
def test_a_program_may_log_longer_or_shorter_than_others(longer: timedelta, later: timedelta, tmp_path: Path) -> None:
    end = NOON - longer
    write(tmp_path, "relay.log", CLOCK, NOON + later)
    write(tmp_path, "server.log", FULL.replace("2026-11-21 12:00:00", f"{end:%Y-%m-%d %H:%M:%S}"), NOON + later)
    assert times(tmp_path) == [AT]


def test_an_old_log_keeps_its_day_next_to_live_ones(tmp_path: Path) -> None:
    write(tmp_path, "relay.log", CLOCK, NOON - timedelta(days=2))
    write(tmp_path, "server.log", FULL, NOON)
    assert times(tmp_path) == [AT - timedelta(days=2)]


def test_a_live_log_keeps_its_day_next_to_an_ended_one(tmp_path: Path) -> None:
    write(tmp_path, "relay.log", CLOCK, NOON + timedelta(days=2))
    write(tmp_path, "server.log", FULL, NOON)
    assert times(tmp_path) == [AT + timedelta(days=2)]


def test_stamps_in_other_zones_have_the_same_day_in_all_logs(tmp_path: Path) -> None:
    """Read as UTC, timestamps from Tokyo are nine hours later than their file's last change."""
    written = NOON.replace(tzinfo=timezone(timedelta(hours=9)))
    write(tmp_path, "relay.log", CLOCK, written)
    write(tmp_path, "server.log", FULL, written)
    assert times(tmp_path) == [AT]


@pytest.mark.parametrize("name", ["relay.log.2026-11-21", "relay-20261121.log", "relay_2026_11_21.log"])
@pytest.mark.parametrize("beside", [True, False])
def test_a_day_in_a_name_counts_if_the_file_is_much_newer(name: str, beside: bool, tmp_path: Path) -> None:
    live = NOON + timedelta(days=30)
    write(tmp_path, name, CLOCK, live)
    if beside:
        write(tmp_path, "server.log", FULL.replace("2026-11-21", "2026-12-21"), live)
    assert times(tmp_path) == [AT]


def test_an_invalid_or_rotation_day_in_a_name_is_ignored(tmp_path: Path) -> None:
    write(tmp_path, "relay-20261399.log", CLOCK, NOON)
    assert times(tmp_path) == [AT]
    (tmp_path / "relay-20261399.log").rename(tmp_path / "relay.log-20261122")
    assert times(tmp_path) == [AT]


def test_years_are_found_in_the_same_way(tmp_path: Path) -> None:
    copied = NOON + timedelta(days=400)
    write(tmp_path, "relay.log", f"Nov 21 11:59:58 host relay[1]: {ERROR}\n", copied)
    write(tmp_path, "server.log", FULL, copied)
    assert times(tmp_path) == [AT.replace(microsecond=0)]


def test_files_with_complete_timestamps_are_unchanged(tmp_path: Path) -> None:
    copied = NOON + timedelta(days=5)
    write(tmp_path, "server.log", FULL, copied)
    write(tmp_path, "none.log", "no stamp at all\n", copied)
    sources, _ = plan_scan([tmp_path])
    assert {one.modified_ms for one in sources} == {int(copied.timestamp() * 1000)}


@pytest.mark.parametrize(
    "prose",
    [
        "It happened on 2026-11-21 in staging (client 3.7.0):",
        "=== 21 Nov 2026 ===",
        "Since the release of October 3rd, 2026 we see, as on November 21st, 2026:",
    ],
)
def test_a_day_above_a_pasted_log_is_its_day(prose: str, tmp_path: Path) -> None:
    write(tmp_path, "report.txt", f"{prose}\n\n{CLOCK}", NOON + timedelta(days=90))
    assert times(tmp_path) == [AT]


@pytest.mark.parametrize("prose", ["With client 2026.13.45 and build 2031-02-30:", "On 2027-02-03, or so:", "Today:"])
def test_what_is_not_a_day_before_the_copy_is_not_used(prose: str, tmp_path: Path) -> None:
    write(tmp_path, "report.txt", f"{prose}\n\n{CLOCK}", NOON)
    assert times(tmp_path) == [AT]


@pytest.mark.parametrize("prefix", ["", "relay_1  | "])
def test_clocks_far_behind_dates_of_their_file_have_its_day(prefix: str, tmp_path: Path) -> None:
    """The beginning that is kept of a file does not reach the first record without a date."""
    broker = "broker_1 | " if prefix else ""
    dated = f"{broker}[2026-11-21 11:58:00,000] INFO {'x' * 200} (b.C)\n" * 40
    clocks = "".join(f"{prefix}{line}\n" for line in CLOCK.splitlines())
    write(tmp_path, "compose.log", dated + clocks, NOON + timedelta(days=500))
    assert times(tmp_path) == [AT]
