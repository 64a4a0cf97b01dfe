"""Damaged files are read to their end: facts with positions, no exceptions, bounded memory."""

from __future__ import annotations

import json
import random
import tracemalloc
from pathlib import Path

import pytest

from eosctl.storage import scan
from eosctl.storage.scan import DamageKind, LogBatch, LogDamage, scan_log
from eosctl.wire.errors import WireError
from eosctl.wire.records.batch import encode_batch, with_offset
from eosctl.wire.records.compression import Compression
from eosctl.wire.records.record import Record
from tests.storage.cases import FIXTURES, batch_bytes

# The findings that a reader of batches sees in the file alone.
FRAMING = {*DamageKind, "crc-mismatch"}


def damaged_cases() -> list[Path]:
    return sorted(FIXTURES.glob("damaged-*"))


@pytest.mark.parametrize("case", damaged_cases(), ids=lambda case: case.name)
def test_recorded_damage_is_found_where_it_is(case: Path) -> None:
    expected = json.loads((case / "expected-findings.json").read_text())
    findings = expected["findings"] if isinstance(expected, dict) else expected
    wanted = {(f["kind"], f["file"], f["position"]) for f in findings if f["kind"] in FRAMING}
    found = set()
    for log in sorted((case / "data").glob("*/*.log")):
        name = str(log.relative_to(case / "data"))
        for fact in scan_log(log):
            if isinstance(fact, LogDamage):
                found.add((str(fact.kind), name, fact.position))
            elif not fact.crc_valid:
                found.add(("crc-mismatch", name, fact.position))
    assert found == wanted


def batches(count: int, value_bytes: int = 50) -> list[bytes]:
    records = [Record(0, 1000, b"k", random.Random(0).randbytes(value_bytes))]
    return [encode_batch(records, base_offset=offset, partition_leader_epoch=0) for offset in range(count)]


def facts(tmp_path: Path, data: bytes) -> list[LogBatch | LogDamage]:
    path = tmp_path / "0.log"
    path.write_bytes(data)
    return list(scan_log(path))


def kinds(found: list[LogBatch | LogDamage]) -> list[str]:
    return [("batch" if fact.crc_valid else "crc") if isinstance(fact, LogBatch) else str(fact.kind) for fact in found]


def test_an_empty_file_holds_nothing(tmp_path: Path) -> None:
    assert facts(tmp_path, b"") == []


def test_reading_continues_after_damage(tmp_path: Path) -> None:
    whole = batches(5)
    found = facts(tmp_path, whole[0] + b"garbage that is no batch at all" + whole[1] + whole[2][:-30] + whole[3])
    assert kinds(found) == ["batch", "bad-magic", "batch", "bad-length", "batch"]
    damage = [fact for fact in found if isinstance(fact, LogDamage)]
    assert damage[0].position == len(whole[0])
    assert damage[0].resumes_at == len(whole[0]) + 31
    assert [batch_bytes(fact) for fact in found if isinstance(fact, LogBatch)] == [whole[0], whole[1], whole[3]]


def test_damage_across_the_chunks_that_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Facts do not depend on where a chunk ends."""
    whole = batches(30)
    data = bytearray(b"".join(whole))
    data[len(whole[0]) * 7 + 8 : len(whole[0]) * 7 + 12] = b"\0\0\0\5"
    data[len(whole[0]) * 15 + 70] ^= 4
    data[len(whole[0]) * 20 + 16] = 77
    data += whole[3][:40]
    wanted = facts(tmp_path, bytes(data))
    assert kinds(wanted).count("batch") == 27
    assert {"bad-length", "crc", "bad-magic", "torn-batch"} < set(kinds(wanted))
    for chunk_bytes in (64, 100, 1000, 2999):
        monkeypatch.setattr(scan, "_CHUNK_BYTES", chunk_bytes)
        for again, before in zip(facts(tmp_path, bytes(data)), wanted, strict=True):
            assert again[:3] == before[:3]
            if isinstance(again, LogBatch) and isinstance(before, LogBatch):
                assert batch_bytes(again) == batch_bytes(before)
            else:
                assert again == before


def test_a_part_of_a_file_can_be_read(tmp_path: Path) -> None:
    whole = batches(5)
    path = tmp_path / "0.log"
    path.write_bytes(b"".join(whole))
    size = len(whole[0])
    found = list(scan_log(path, position=size, end=3 * size))
    assert [fact.position for fact in found] == [size, 2 * size]


def test_batches_too_large_to_keep_are_still_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "_CHUNK_BYTES", 1000)
    monkeypatch.setattr(scan, "_MAX_BATCH_BYTES", 1000)
    large, small = batches(1, 5000)[0], batches(1)[0]
    damaged = bytearray(large)
    damaged[4000] ^= 1
    found = facts(tmp_path, large + small + bytes(damaged) + small)
    assert kinds(found) == ["batch", "batch", "crc", "batch"]
    assert isinstance(found[0], LogBatch)
    with pytest.raises(WireError, match="too large"):
        found[0].records()


def test_errors_of_records_name_the_place_in_the_file(tmp_path: Path) -> None:
    first, second = batches(2)
    broken = bytearray(second)
    broken[61] = 0x7F
    found = facts(tmp_path, first + bytes(broken))
    assert isinstance(found[1], LogBatch)
    assert not found[1].crc_valid
    with pytest.raises(WireError) as error:
        found[1].records()
    assert error.value.offset == len(first) + 61


def test_memory_is_bounded(tmp_path: Path) -> None:
    """A file of many megabytes and a length field of two gigabytes need no more than a chunk."""
    path = tmp_path / "0.log"
    batch = batches(1, 100_000)[0]
    with path.open("wb") as file:
        for offset in range(200):
            file.write(with_offset(batch, offset, 0))
        file.write(batch[:8] + b"\x7f\xff\xff\xff" + batch[12:])
    tracemalloc.start()
    try:
        found = sum(isinstance(fact, LogBatch) for fact in scan_log(path))
        assert tracemalloc.get_traced_memory()[1] < 6 << 20
    finally:
        tracemalloc.stop()
    assert found == 200


def test_a_file_made_to_keep_the_search_busy(tmp_path: Path) -> None:
    """Headers that all claim the rest of the file are not all checked to its end."""
    batch = batches(1)[0]
    count = 3000
    size = 64
    hostile = b"".join(batch[:8] + ((count - n) * size - 12).to_bytes(4, "big") + batch[12:size] for n in range(count))
    path = tmp_path / "0.log"
    path.write_bytes(b"\0" * 16 + b"\x09" + hostile)
    read = 0
    pread = scan.os.pread

    def counted(descriptor: int, size: int, position: int) -> bytes:
        nonlocal read
        data = pread(descriptor, size, position)
        read += len(data)
        return data

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan.os, "pread", counted)
        found = list(scan_log(path))
    assert kinds(found) == ["bad-magic"]
    assert read < 20 * path.stat().st_size


def test_mutated_files(tmp_path: Path) -> None:
    chance = random.Random(7)
    codecs = list(Compression)
    data = b"".join(
        with_offset(
            encode_batch([Record(0, 5, b"k" * n, b"value" * n, (("h", b"x"),))] * 3, codec=codecs[n % 5]), 3 * n, 0
        )
        for n in range(12)
    )
    path = tmp_path / "0.log"
    for _ in range(800):
        changed = bytearray(data)
        for _ in range(chance.randint(1, 5)):
            at = chance.randrange(len(changed))
            if chance.random() < 0.5:
                changed[at] = chance.randrange(256)
            elif chance.random() < 0.5:
                del changed[at : at + chance.randint(1, 100)]
            else:
                changed[at:at] = bytes(chance.randint(1, 100))
        path.write_bytes(changed)
        reached = 0
        for fact in scan_log(path):
            assert fact.position == reached
            if isinstance(fact, LogBatch):
                reached += fact.header.size_bytes
                try:
                    fact.records(max_bytes=1 << 16)
                except WireError as error:
                    assert 0 <= error.offset <= len(changed)
            else:
                reached = len(changed) if fact.resumes_at is None else fact.resumes_at
        assert reached == len(changed)
