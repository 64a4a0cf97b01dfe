"""The operations of a client library in these tests, so that each behavior is tested with all of them.

A driver translates names and waits; it repeats nothing and forgives nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

PATIENCE_S = 20.0


class Fenced(Exception):  # noqa: N818 - the field's term
    """Another producer took over this transactional id."""


class Writer(Protocol):
    """A transactional producer, ready for its first transaction."""

    def begin(self) -> None: ...

    def send(self, topic: str, partition: int, value: bytes) -> int:
        """Produce one record and return its offset."""

    def send_offsets(self, positions: Mapping[tuple[str, int], int], reader: Reader) -> None: ...

    def commit(self) -> None: ...

    def abort(self) -> None: ...

    def close(self) -> None: ...


class Reader(Protocol):
    """A consumer: a member of a group, or one that reads given partitions."""

    def take(self, count: int) -> list[tuple[int, int, bytes]]:
        """Return partition, offset and value of the next records, ``count`` or a few more."""

    def commit(self, positions: Mapping[tuple[str, int], int]) -> None: ...

    def committed(self, topic: str, partition: int) -> int | None: ...

    def group(self) -> Any: ...

    def close(self) -> None: ...


class Driver(Protocol):
    """A client library."""

    def writer(self, bootstrap: str, transactional_id: str, compression: str = "none") -> Writer: ...

    def reader(
        self, bootstrap: str, topic: str, *, group: str, partitions: int | None = None, committed: bool = True
    ) -> Reader:
        """Open a consumer that subscribes, or with ``partitions`` is assigned that many of the topic."""


def gather(poll: Callable[[], list[tuple[int, int, bytes]]], count: int) -> list[tuple[int, int, bytes]]:
    """Poll until ``count`` records came; fewer fail after the patience."""
    found: list[tuple[int, int, bytes]] = []
    deadline = time.monotonic() + PATIENCE_S
    while len(found) < count and time.monotonic() < deadline:
        found += poll()
    assert len(found) >= count, f"{len(found)} records came in {PATIENCE_S} s, {count} were expected: {found}"
    return found
