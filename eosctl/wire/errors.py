"""The error of the wire package, and the string length limit."""

from __future__ import annotations

from typing import Final

#: Longest string in bytes. Kafka rejects longer strings, although a compact length could encode them.
STRING_LIMIT: Final = 0x7FFF


class WireError(ValueError):
    """Bytes do not follow Kafka's format.

    Attributes:
        what: The problem, in words.
        field: Name of the field that could not be read or written.
        offset: Position of the field, in bytes from the start of the given buffer.
    """

    def __init__(self, what: str, field: str, offset: int) -> None:
        super().__init__(what, field, offset)
        self.what = what
        self.field = field
        self.offset = offset

    def __str__(self) -> str:
        return f"{self.what} (field {self.field} at byte {self.offset})"
