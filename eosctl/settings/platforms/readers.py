"""Which workloads read a resource, or a file that a project has where the machine or the cluster will have it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from functools import lru_cache

_ANYWHERE = "**/"


class Readers:
    """Workloads by what they read: each resource and file is looked up once, and not compared with all workloads.

    Args:
        reads: What each of the workloads reads, in their order.
    """

    def __init__(self, reads: Iterable[frozenset[str]]) -> None:
        self._reads = list(reads)
        self._by_name: dict[str, list[int]] = {}
        for number, names in enumerate(self._reads):
            for name in names:
                self._by_name.setdefault(name, []).append(number)
        self._with_patterns = [number for number, names in enumerate(self._reads) if _patterns(names)]

    def of(self, held: str) -> list[int]:
        """Return the numbers of the workloads that read a resource or a file, in their order."""
        found = {number for name in _names_of(held) for number in self._by_name.get(name, ())}
        found |= {number for number in self._with_patterns if is_read(held, self._reads[number])}
        return sorted(found)


def is_read(held: str, reads: frozenset[str]) -> bool:
    """Return whether a workload reads a resource, or a file by its path, or the folder of the file.

    A path from the root is that of the machine, which a project may have under a folder of its own.

    >>> is_read("deploy/etc/pay/a.env", frozenset({"/etc/pay/a.env"})), is_read("x/a.env", frozenset({"x"}))
    (True, True)
    """
    if not _names_of(held).isdisjoint(reads):
        return True
    return any(_is_near(posixpath.normpath(held), pattern) for pattern in _patterns(reads))


@lru_cache(maxsize=16_384)
def _names_of(held: str) -> frozenset[str]:
    """Return every name under which a workload may read something: its own, its folders', and those from the root."""
    path = posixpath.normpath(held)
    rooted = f"/{path}"
    folders = (path[:at] for at, letter in enumerate(path) if letter == "/")
    from_root = (rooted[at:] for at, letter in enumerate(rooted) if letter == "/")
    return frozenset((held, path, *folders, *from_root))


@lru_cache(maxsize=16_384)
def _patterns(reads: frozenset[str]) -> tuple[str, ...]:
    return tuple(name for name in reads if _ANYWHERE in name)


def _is_near(path: str, pattern: str) -> bool:
    """Return whether a file has the name of a pattern (``deploy/**/pay.env``) somewhere in the folder of it."""
    folder, _, name = pattern.partition(_ANYWHERE)
    return path.startswith(folder.removeprefix("./")) and path.rpartition("/")[2] == name
