"""Ways to damage a partition's files, applied to healthy recordings: each returns the kind that must be found."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from pathlib import Path

import google_crc32c

from eosctl.storage.index_file import read_index_file
from eosctl.storage.scan import LogBatch, scan_log

#: What must be found: its kind, and the position or entry where that is determined.
Wanted = tuple[str, int | None]
Damage = Callable[[Path, random.Random], Wanted | None]


def _batches(log: Path) -> list[LogBatch]:
    return [fact for fact in scan_log(log) if isinstance(fact, LogBatch)]


def _patch(path: Path, at: int, content: bytes) -> None:
    data = bytearray(path.read_bytes())
    data[at : at + len(content)] = content
    path.write_bytes(data)


def _seal_batch(log: Path, batch: LogBatch) -> None:
    data = log.read_bytes()
    checked = data[batch.position + 21 : batch.position + batch.header.size_bytes]
    _patch(log, batch.position + 17, struct.pack(">I", google_crc32c.value(checked)))


def _log_of(directory: Path, chance: random.Random, least: int = 1) -> tuple[Path, list[LogBatch]] | None:
    logs = [(log, batches) for log in sorted(directory.glob("*.log")) if len(batches := _batches(log)) >= least]
    return chance.choice(logs) if logs else None


def flip_a_bit(directory: Path, chance: random.Random) -> Wanted | None:
    if (found := _log_of(directory, chance)) is None:
        return None
    log, batches = found
    batch = chance.choice(batches)
    at = batch.position + chance.randrange(23, batch.header.size_bytes)
    _patch(log, at, bytes((log.read_bytes()[at] ^ 1 << chance.randrange(8),)))
    return "crc-mismatch", batch.position


def change_magic(directory: Path, chance: random.Random) -> Wanted | None:
    if (found := _log_of(directory, chance)) is None:
        return None
    batch = chance.choice(found[1])
    _patch(found[0], batch.position + 16, b"\x09")
    return "bad-magic", batch.position


def change_length(directory: Path, chance: random.Random) -> Wanted | None:
    if (found := _log_of(directory, chance, 2)) is None:
        return None
    batch = chance.choice(found[1][:-1])
    length = chance.choice((20, batch.header.batch_length + 7, batch.header.batch_length + (1 << 26)))
    _patch(found[0], batch.position + 8, struct.pack(">i", length))
    return "bad-length", batch.position


def lower_base_offset(directory: Path, chance: random.Random) -> Wanted | None:
    if (found := _log_of(directory, chance, 3)) is None:
        return None
    batch = chance.choice(found[1][1:])
    _patch(found[0], batch.position, struct.pack(">q", max(batch.header.base_offset - 3, 0)))
    return "offset-not-monotonic", batch.position


def tear_the_end(directory: Path, chance: random.Random) -> Wanted | None:
    log = max(directory.glob("*.log"))
    if not (batches := _batches(log)):
        return None
    last = batches[-1]
    log.write_bytes(log.read_bytes()[: last.position + chance.randrange(12, last.header.size_bytes)])
    return "torn-batch", last.position


def append_zeros(directory: Path, chance: random.Random) -> Wanted | None:
    log = max(directory.glob("*.log"))
    size = log.stat().st_size
    log.write_bytes(log.read_bytes() + bytes(4096))
    return "zero-tail", size


def raise_sequence(directory: Path, chance: random.Random) -> Wanted | None:
    epochs: dict[int, int] = {}
    later: list[tuple[Path, LogBatch]] = []
    for log in sorted(directory.glob("*.log")):
        for batch in _batches(log):
            header = batch.header
            if header.producer_id >= 0 and header.base_sequence >= 0:
                if epochs.get(header.producer_id) == header.producer_epoch:
                    later.append((log, batch))
                epochs[header.producer_id] = header.producer_epoch
    if not later:
        return None
    log, batch = chance.choice(later)
    _patch(log, batch.position + 53, struct.pack(">i", batch.header.base_sequence + 5))
    _seal_batch(log, batch)
    return "sequence-gap", batch.position


def repeat_a_batch(directory: Path, chance: random.Random) -> Wanted | None:
    log = max(directory.glob("*.log"))
    batches = _batches(log)
    last = {b.header.producer_id: b for b in batches if b.header.base_sequence >= 0 and b.header.producer_id >= 0}
    last = {
        p: b
        for p, b in last.items()
        if b.header.producer_epoch == max(x.header.producer_epoch for x in batches if x.header.producer_id == p)
    }
    if not last:
        return None
    batch = chance.choice(list(last.values()))
    copy = bytearray(batch.buffer[batch.buffer_position : batch.buffer_position + batch.header.size_bytes])
    copy[:8] = struct.pack(">q", batches[-1].header.next_offset)
    size = log.stat().st_size
    log.write_bytes(log.read_bytes() + copy)
    return "duplicate-batch", size


def change_leader_epoch(directory: Path, chance: random.Random) -> Wanted | None:
    if (found := _log_of(directory, chance)) is None or not (directory / "leader-epoch-checkpoint").exists():
        return None
    if (directory / "leader-epoch-checkpoint").read_text().split()[1:2] in ([], ["0"]):
        return None
    batch = chance.choice(found[1])
    _patch(found[0], batch.position + 12, struct.pack(">i", 77))
    return "leader-epoch-mismatch", batch.position


def remove_a_segment(directory: Path, chance: random.Random) -> Wanted | None:
    logs = sorted(directory.glob("*.log"))[1:-1]
    if not logs:
        return None
    log = chance.choice(logs)
    for suffix in (".log", ".index", ".timeindex", ".txnindex"):
        log.with_suffix(suffix).unlink(missing_ok=True)
    return "segment-gap", None


def _index(directory: Path, chance: random.Random, suffix: str, width: int, least: int = 1) -> tuple[Path, int] | None:
    found = [
        (path, len(read_index_file(path, width).entries) // width)
        for path in sorted(directory.glob(f"*{suffix}"))
        if path.with_suffix(".log").exists()
    ]
    found = [(path, count) for path, count in found if count >= least]
    return chance.choice(found) if found else None


def move_index_position(directory: Path, chance: random.Random) -> Wanted | None:
    if (found := _index(directory, chance, ".index", 8)) is None:
        return None
    path, count = found
    entry = chance.randrange(count)
    (position,) = struct.unpack_from(">i", path.read_bytes(), entry * 8 + 4)
    past_end = chance.random() < 0.5 and entry == count - 1
    _patch(path, entry * 8 + 4, struct.pack(">i", 1_000_000 if past_end else position + 5))
    return "index-out-of-range" if past_end else "index-mismatch", entry


def swap_index_entries(directory: Path, chance: random.Random) -> Wanted | None:
    if (found := _index(directory, chance, ".index", 8, 2)) is None:
        return None
    entry = chance.randrange(found[1] - 1)
    data = found[0].read_bytes()[entry * 8 :]
    _patch(found[0], entry * 8, data[8:16] + data[:8])
    return "index-unordered", None


def add_stray_index_bytes(directory: Path, chance: random.Random) -> Wanted | None:
    if (found := _index(directory, chance, ".index", 8)) is None:
        return None
    found[0].write_bytes(found[0].read_bytes() + b"abc")
    return "index-size", None


def change_index_timestamp(directory: Path, chance: random.Random) -> Wanted | None:
    if (found := _index(directory, chance, ".timeindex", 12)) is None:
        return None
    path, count = found
    entry = chance.randrange(count)
    (timestamp,) = struct.unpack_from(">q", path.read_bytes(), entry * 12)
    _patch(path, entry * 12, struct.pack(">q", timestamp - 90_000_000))
    return ("timeindex-unordered" if entry else "timeindex-mismatch"), entry


def _txn_index(directory: Path, chance: random.Random) -> tuple[Path, bytes, int] | None:
    found = _index(directory, chance, ".txnindex", 34)
    return None if found is None else (found[0], found[0].read_bytes(), chance.randrange(found[1]))


def remove_txn_entry(directory: Path, chance: random.Random) -> Wanted | None:
    if (found := _txn_index(directory, chance)) is None:
        return None
    path, data, entry = found
    if chance.random() < 0.3:
        path.unlink()
    else:
        path.write_bytes(data[: entry * 34] + data[entry * 34 + 34 :])
    return "txnindex-missing", None


def add_txn_entry(directory: Path, chance: random.Random) -> Wanted | None:
    if (found := _txn_index(directory, chance)) is None:
        return None
    path, data, _ = found
    producer_id, first, last, stable = struct.unpack(">qqqq", data[-32:])
    path.write_bytes(data + struct.pack(">hqqqq", 0, producer_id + 900, first, last + 1, stable + 1))
    return "txnindex-extra", len(data) // 34


def change_txn_entry(directory: Path, chance: random.Random) -> Wanted | None:
    if (found := _txn_index(directory, chance)) is None:
        return None
    path, data, entry = found
    field, kind = chance.choice(((10, "txnindex-wrong-range"), (26, "txnindex-wrong-lso")))
    (value,) = struct.unpack_from(">q", data, entry * 34 + field)
    _patch(path, entry * 34 + field, struct.pack(">q", value + 1))
    return kind, entry


def _snapshot(directory: Path, chance: random.Random) -> tuple[Path, bytearray, int] | None:
    found = [path for path in sorted(directory.glob("*.snapshot")) if path.stat().st_size > 10]
    if not found:
        return None
    path = chance.choice(found)
    data = bytearray(path.read_bytes())
    return path, data, chance.randrange((len(data) - 10) // 46)


def change_snapshot(directory: Path, chance: random.Random) -> Wanted | None:
    if (found := _snapshot(directory, chance)) is None:
        return None
    path, data, entry = found
    field, width = chance.choice(((10, ">i"), (14, ">q"), (38, ">q")))
    (value,) = struct.unpack_from(width, data, 10 + entry * 46 + field)
    struct.pack_into(width, data, 10 + entry * 46 + field, value + 1 if value < 0 else value + 13)
    data[2:6] = struct.pack(">I", google_crc32c.value(bytes(data[6:])))
    path.write_bytes(data)
    return "snapshot-mismatch", None


def break_snapshot(directory: Path, chance: random.Random) -> Wanted | None:
    if (found := _snapshot(directory, chance)) is None:
        return None
    path, data, _ = found
    match chance.randrange(3):
        case 0:
            data[chance.randrange(10, len(data))] ^= 4
            path.write_bytes(data)
            return "snapshot-crc", None
        case 1:
            data[1] = 7
            path.write_bytes(data)
            return "snapshot-version", None
    path.write_bytes(data[: chance.randrange(1, len(data))])
    return "snapshot-truncated", None


def break_small_file(directory: Path, chance: random.Random) -> Wanted | None:
    epochs, metadata = directory / "leader-epoch-checkpoint", directory / "partition.metadata"
    if epochs.exists() and len(lines := epochs.read_text().split("\n")) > 2 and chance.random() < 0.5:
        lines[1] = str(int(lines[1]) + 2)
        epochs.write_text("\n".join(lines))
        return "checkpoint-malformed", None
    if not metadata.exists():
        return None
    metadata.write_text("version: 0\ntopic_id: none")
    return "partition-metadata-malformed", None


DAMAGES: tuple[Damage, ...] = (
    flip_a_bit,
    change_magic,
    change_length,
    lower_base_offset,
    tear_the_end,
    append_zeros,
    raise_sequence,
    repeat_a_batch,
    change_leader_epoch,
    remove_a_segment,
    move_index_position,
    swap_index_entries,
    add_stray_index_bytes,
    change_index_timestamp,
    remove_txn_entry,
    add_txn_entry,
    change_txn_entry,
    change_snapshot,
    break_snapshot,
    break_small_file,
)
