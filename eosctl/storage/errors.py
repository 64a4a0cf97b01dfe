"""Errors of the storage package."""

from __future__ import annotations

from pathlib import Path


class DamagedFile(ValueError):  # noqa: N818 - it names what is wrong with the world, not with the program
    """A file does not hold what its name promises.

    Attributes:
        path: The file.
        what: The problem, in words.
        offset: Position of the problem in bytes; for text files the line, counted from 1.
    """

    def __init__(self, path: Path, what: str, offset: int = 0) -> None:
        super().__init__(path, what, offset)
        self.path = path
        self.what = what
        self.offset = offset

    def __str__(self) -> str:
        return f"{self.path}: {self.what} (at {self.offset})"


class OffsetOutOfRange(LookupError):  # noqa: N818 - Kafka's name for it
    """A read outside the offsets of a log."""

    def __init__(self, offset: int, log_start_offset: int, log_end_offset: int) -> None:
        super().__init__(offset, log_start_offset, log_end_offset)
        self.offset = offset
        self.log_start_offset = log_start_offset
        self.log_end_offset = log_end_offset

    def __str__(self) -> str:
        return f"offset {self.offset} is not within {self.log_start_offset} and {self.log_end_offset}"
