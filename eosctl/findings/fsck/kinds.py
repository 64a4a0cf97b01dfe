"""The kinds of findings in data directories, by the names that people use."""

from __future__ import annotations

from typing import Final, NamedTuple

from eosctl.findings.fsck.consequences import CONSEQUENCES, Consequence
from eosctl.findings.fsck.titles import TITLES

AREA: Final = "fsck"


def check_id(kind: str) -> str:
    """Return the id of the findings of a kind.

    >>> check_id("crc-mismatch")
    'fsck/crc-mismatch'
    """
    return f"{AREA}/{kind}"


class FsckKind(NamedTuple):
    """A kind of finding: its name, the title of its findings, and what follows from it."""

    name: str
    title: str
    follows: Consequence


def find_kind(name: str) -> FsckKind | None:
    """Return the kind with a name or id, such as ``crc-mismatch`` or ``fsck/crc-mismatch``; None without one."""
    kind = name.removeprefix(f"{AREA}/")
    return FsckKind(kind, TITLES[kind], CONSEQUENCES[kind]) if kind in CONSEQUENCES else None


def kind_names() -> tuple[str, ...]:
    """Return the ids of all kinds, in order."""
    return tuple(map(check_id, sorted(CONSEQUENCES)))
