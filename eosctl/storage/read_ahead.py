"""Read the next piece of a large file while the last one is looked at.

Copying a gigabyte out of the page cache takes longer than its checksums; with a thread that copies, the two go on at
once.
"""

from __future__ import annotations

import os
from queue import SimpleQueue
from threading import Thread


class ReadAhead:
    """A thread that reads one piece ahead; close it when the reading ends."""

    def __init__(self, descriptor: int) -> None:
        """Start it for an open file."""
        self._descriptor = descriptor
        self._wanted: SimpleQueue[tuple[int, int] | None] = SimpleQueue()
        self._found: SimpleQueue[bytes | OSError] = SimpleQueue()
        self._pending: tuple[int, int] | None = None
        self._thread = Thread(target=self._serve, name="read-ahead", daemon=True)
        self._thread.start()

    def prepare(self, size: int, position: int) -> None:
        """Begin to read what will probably be asked for next."""
        if self._pending is None:
            self._pending = (size, position)
            self._wanted.put(self._pending)

    def read(self, descriptor: int, size: int, position: int) -> bytes:
        """Return bytes as `os.pread` does, those that were prepared if they are the ones.

        Raises:
            OSError: When they cannot be read.
        """
        pending, self._pending = self._pending, None
        found = self._found.get() if pending is not None else b""
        if pending != (size, position) or descriptor != self._descriptor:
            return os.pread(descriptor, size, position)
        if isinstance(found, OSError):
            raise found
        return found

    def close(self) -> None:
        """End the thread; the file is not touched any more afterwards."""
        self._wanted.put(None)
        self._thread.join()

    def _serve(self) -> None:
        while (wanted := self._wanted.get()) is not None:
            try:
                self._found.put(os.pread(self._descriptor, *wanted))
            except OSError as error:
                self._found.put(error)
