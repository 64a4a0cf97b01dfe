"""Write and compare the generated files in `eosctl/wire`."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

from scripts.generate_wire.modules import generate

WIRE = Path(__file__).parents[2] / "eosctl" / "wire"
STAMP = "generated/stamp.py"
BY_HAND = "generated/__init__.py"


def stale_files(wanted: Mapping[str, str], wire: Path = WIRE) -> list[str]:
    """Return the files that differ from the tables, including missing and obsolete ones."""
    folders = (wire / "messages", wire / "generated")
    present = {path.relative_to(wire).as_posix() for folder in folders for path in folder.rglob("*.py")} - {BY_HAND}
    changed = [name for name in wanted if name in present and (wire / name).read_bytes() != wanted[name].encode()]
    return sorted({*changed, *(present ^ set(wanted))})


def write_files(wire: Path = WIRE) -> list[str]:
    """Write changed files, delete obsolete ones, and return their paths.

    The stamp is deleted first and written last, so an interrupted run leaves a codec that is rejected. Each file is
    written atomically, so concurrent runs are harmless. The stamp's time is that of the tables as they were read.
    """
    read_at_ns = time.time_ns()
    wanted = generate()
    stale = stale_files(wanted, wire)
    if stale:
        (wire / STAMP).unlink(missing_ok=True)
    for name in sorted({*stale, STAMP} if stale else stale, key=lambda name: name == STAMP):
        path = wire / name
        if name in wanted:
            path.parent.mkdir(parents=True, exist_ok=True)
            _replace(path, wanted[name])
        else:
            path.unlink(missing_ok=True)
    os.utime(wire / STAMP, ns=(read_at_ns, read_at_ns))
    return stale


def _replace(path: Path, text: str) -> None:
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    temporary.write_bytes(text.encode())
    temporary.replace(path)
