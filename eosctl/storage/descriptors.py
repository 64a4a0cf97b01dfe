"""A bounded set of open files: a broker has more logs than a process may have file descriptors."""

from __future__ import annotations

import os
from collections import OrderedDict
from pathlib import Path
from typing import Final

_FLAGS: Final = os.O_RDWR | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)


class Descriptors:
    """Open files by path; closes the least recently used file when the capacity is exceeded."""

    __slots__ = ("_capacity", "_open")

    def __init__(self, capacity: int = 128) -> None:
        self._capacity = capacity
        self._open: OrderedDict[str, int] = OrderedDict()

    def __del__(self) -> None:
        # Like a file object: dropping a log without closing it, as a simulated crash does, leaks no descriptor.
        self.close()

    def __len__(self) -> int:
        return len(self._open)

    def open(self, path: str, *, create: bool = False) -> int:
        """Return a descriptor that reads anywhere and appends.

        The descriptor belongs to this object and is valid until the next call.

        Args:
            path: The file.
            create: Whether to create the file and its directory if they are absent.

        Raises:
            OSError: The file cannot be opened or created.
        """
        descriptor = self._open.get(path)
        if descriptor is not None:
            if len(self._open) >= self._capacity:  # Track the order only once the set is full.
                self._open.move_to_end(path)
            return descriptor
        while len(self._open) >= self._capacity:
            os.close(self._open.popitem(last=False)[1])
        flags = _FLAGS | os.O_CREAT if create else _FLAGS
        try:
            descriptor = os.open(path, flags, 0o644)
        except FileNotFoundError:
            if not create:
                raise
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, flags, 0o644)
        self._open[path] = descriptor
        return descriptor

    def forget(self, path: str) -> None:
        """Close a file if it is open, before it is deleted, renamed, or no longer needed."""
        descriptor = self._open.pop(path, None)
        if descriptor is not None:
            os.close(descriptor)

    def close(self) -> None:
        """Close every file."""
        while self._open:
            os.close(self._open.popitem()[1])
