"""Reading ahead changes nothing of what a scan finds."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from eosctl.storage import scan
from eosctl.storage.read_ahead import ReadAhead
from eosctl.storage.scan import scan_log
from eosctl.wire.records.batch import encode_batch, with_offset
from eosctl.wire.records.record import Record
from tests.storage.cases import FIXTURES

LOGS = sorted(FIXTURES.glob("*/data*/*-*/*.log"))


def is_reading_ahead() -> bool:
    return any(thread.name == "read-ahead" for thread in threading.enumerate())


def test_what_is_found_stays_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "_CHUNK_BYTES", 300)
    expected = [[fact[:3] for fact in scan_log(log)] for log in LOGS]
    monkeypatch.setattr(scan, "_WORTH_A_THREAD_BYTES", 0)
    assert [[fact[:3] for fact in scan_log(log)] for log in LOGS] == expected
    assert not is_reading_ahead()


def test_large_files_are_read_ahead_and_the_thread_ends_with_the_scan(tmp_path: Path) -> None:
    batch = encode_batch([Record(0, 0, b"key", bytes(100_000))])
    log = tmp_path / "00000000000000000000.log"
    log.write_bytes(b"".join(with_offset(batch, offset, 0) for offset in range(200)))
    facts = scan_log(log)
    assert next(facts).position == 0
    assert is_reading_ahead()
    assert [fact.position for fact in facts] == [n * len(batch) for n in range(1, 200)]
    assert not is_reading_ahead()
    given_up = scan_log(log)
    next(given_up)
    given_up.close()  # type: ignore[attr-defined]
    assert not is_reading_ahead()


def test_other_pieces_than_those_prepared_are_read_too(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(bytes(range(100)))
    descriptor = os.open(file, os.O_RDONLY)
    ahead = ReadAhead(descriptor)
    try:
        ahead.prepare(10, 0)
        assert ahead.read(descriptor, 10, 0) == bytes(range(10))
        ahead.prepare(10, 20)
        ahead.prepare(10, 30)
        assert ahead.read(descriptor, 5, 50) == bytes(range(50, 55))
        assert ahead.read(descriptor, 10, 95) == bytes(range(95, 100))
        ahead.prepare(10, -1)
        with pytest.raises(OSError, match="Invalid argument"):
            ahead.read(descriptor, 10, -1)
    finally:
        ahead.close()
        os.close(descriptor)
