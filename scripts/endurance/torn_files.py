"""Damage that a kill or a power cut leaves at the ends of a broker's files, and that costs nothing acknowledged.

Only the tail of a log behind its last whole batch is damaged (a write that was interrupted, or blocks of zeros that the
file system allotted), and files that a broker derives from its logs (indexes and snapshots of producers). A log
itself is only ever cut on one broker of a running cluster, by the fault `kill ... lose=N torn=true`.
"""

from __future__ import annotations

import random
import struct
from pathlib import Path
from typing import Final

HEADER: Final = struct.Struct(">qi")
"""The base offset of a batch and the length of what follows."""
DERIVED: Final = (".index", ".timeindex", ".txnindex", ".snapshot")
SHARE: Final = 0.5
"""The share of a broker's logs that are damaged."""


def tear(data_dir: Path, rng: random.Random) -> int:
    """Damage the files of a cluster that does not run, and return how many."""
    torn = 0
    for folder in sorted({path.parent for path in data_dir.rglob("*.log")}):
        if rng.random() < SHARE:
            active = max(folder.glob("*.log"))
            with active.open("ab") as file:
                file.write(torn_tail(active.read_bytes(), rng))
            torn += 1
            derived = [path for kind in DERIVED for path in sorted(folder.glob(f"*{kind}"))[-1:]]
            if derived and rng.random() < SHARE:
                damage(rng.choice(derived), rng)
                torn += 1
    return torn


def torn_tail(log: bytes, rng: random.Random) -> bytes:
    """Return the bytes that an interrupted write of one more batch leaves: a part of it, or zeros."""
    batch = last_batch(log)
    if not batch or rng.random() < SHARE / 2:
        return bytes(rng.randint(1, 5_000))
    base, length = HEADER.unpack_from(batch)
    following = HEADER.pack(base + 1, length) + batch[HEADER.size :]
    return following[: rng.randint(1, len(following) - 1)]


def last_batch(log: bytes) -> bytes:
    """Return the last whole batch of a segment."""
    found, at = b"", 0
    while at + HEADER.size <= len(log):
        end = at + HEADER.size + HEADER.unpack_from(log, at)[1]
        if end <= at + HEADER.size or end > len(log):
            break
        found, at = log[at:end], end
    return found


def damage(path: Path, rng: random.Random) -> None:
    """Shorten a file, overwrite its end with zeros, or remove it."""
    size = path.stat().st_size
    kept = rng.randint(0, size)
    match rng.randrange(3):
        case 0:
            path.unlink()
        case 1:
            path.write_bytes(path.read_bytes()[:kept])
        case _:
            path.write_bytes(path.read_bytes()[:kept] + bytes(size - kept))
