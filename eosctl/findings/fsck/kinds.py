"""The kinds of findings in data directories, by the names that people use."""

from __future__ import annotations

from typing import Final, NamedTuple

from eosctl.findings.fsck.consequences import CONSEQUENCES, Consequence
from eosctl.findings.fsck.titles import TITLES
from eosctl.findings.manual import DIRECTORIES, CheckItem, ManualItem

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

    @property
    def manual(self) -> ManualItem:
        """The kind as listed in the catalog of checks, with its manual."""
        item = CheckItem(
            id=check_id(self.name),
            name=self.name,
            title=self.title,
            area=AREA,
            severity="",
            summary=self.follows.effect,
            needs=(DIRECTORIES,),
            uses=(),
            since="",
            until="",
            tags=(AREA,),
            references=(),
        )
        return ManualItem(item, {"When the broker starts again": self.follows.on_restart, "Fix": self.follows.repair})


def find_kind(name: str) -> FsckKind | None:
    """Return the kind with a name or id, such as ``crc-mismatch`` or ``fsck/crc-mismatch``; None without one."""
    kind = name.removeprefix(f"{AREA}/")
    return FsckKind(kind, TITLES[kind], CONSEQUENCES[kind]) if kind in CONSEQUENCES else None


def kind_names() -> tuple[str, ...]:
    """Return the ids of all kinds, in order."""
    return tuple(map(check_id, sorted(CONSEQUENCES)))
