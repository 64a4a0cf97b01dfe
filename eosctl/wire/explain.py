"""Explain why bytes could not be decoded.

The generated decoders are fast because they do not track field names. After a failure, this module reads the same bytes
again, field by field, and reports the first field that does not fit.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from eosctl.wire.errors import STRING_LIMIT, WireError
from eosctl.wire.schema.layout import Layout, Slot, layout_of
from eosctl.wire.schema.table import parse_table

_SIZES = {
    "bool": 1, "int8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8, "float64": 8, "uuid": 16,
}  # fmt: skip


@cache
def _load_layout(table: str, section: str, version: int) -> tuple[str, Layout]:
    file = files("eosctl.wire.schema").joinpath(f"{table}.msg")  # Spark executors load the package from an archive.
    loaded = parse_table(file.read_text(encoding="utf-8"), file.name)
    return f"{loaded.name} {section}", layout_of(loaded.section(section), version)


def explain_failure(table: str, section: str, version: int, buffer: bytes, position: int) -> WireError:
    """Find the field that makes a message unreadable.

    Args:
        table: Path of the table below the schema folder, without its suffix.
        section: The message in it, such as `request`.
        version: A version that has the layout.
        buffer: The bytes that the decoder rejected.
        position: Where the message starts in them.

    Returns:
        The error to raise, with the field's path such as `topics[2].name` and its offset in the buffer.
    """
    title, layout = _load_layout(table, section, version)
    try:
        _Walk(title, buffer, position, layout.flexible).struct("", layout.slots)
    except WireError as error:
        return error
    return WireError(f"{title}: unreadable", "?", position)


class _Walk:
    """A position in a buffer that advances field by field."""

    def __init__(self, title: str, buffer: bytes, position: int, flexible: bool) -> None:
        self.title = title
        self.buffer = buffer
        self.position = position
        self.flexible = flexible

    def struct(self, path: str, slots: tuple[Slot, ...]) -> None:
        prefix = f"{path}." if path else ""
        for slot in slots:
            if slot.field.tag is None:
                self.field(prefix + slot.field.name, slot)
        if self.flexible:
            self.tags(prefix, {slot.field.tag: slot for slot in slots if slot.field.tag is not None})

    def field(self, path: str, slot: Slot) -> None:
        if not slot.field.is_array:
            self.value(path, slot, slot.nullable)
            return
        start = self.position
        count = self.length(path, 4, slot.nullable)
        if count > len(self.buffer) - self.position:
            raise self.error(f"{count} elements cannot be in {self.left} bytes", path, start)
        for number in range(count):
            self.value(f"{path}[{number}]", slot, nullable=False)

    def value(self, path: str, slot: Slot, nullable: bool) -> None:
        kind = slot.field.type
        if kind in _SIZES:
            self.skip(path, _SIZES[kind])
        elif slot.field.is_struct:
            self.optional_struct(path, slot, nullable)
        else:
            start = self.position
            size = self.length(path, 2 if kind == "string" else 4, nullable)
            if kind == "string" and size > STRING_LIMIT:
                raise self.error(f"a string of {size} bytes is longer than Kafka allows", path, start)
            self.skip(path, size)

    def optional_struct(self, path: str, slot: Slot, nullable: bool) -> None:
        if nullable:
            self.skip(path, 1)
            present = self.buffer[self.position - 1]
            if (present == 0) if slot.field.tag is not None else (present >= 0x80):
                return
        self.struct(path, slot.slots)

    def tags(self, prefix: str, known: dict[int | None, Slot]) -> None:
        path = f"{prefix}tags"
        for _ in range(self.varint(path)):
            start = self.position
            tag = self.varint(path)
            size = self.varint(path)
            end = self.position + size
            if size > self.left:
                raise self.error(f"tag {tag} of {size} bytes with {self.left} left", path, start)
            if tag in known:
                inner = prefix + known[tag].field.name
                self.field(inner, known[tag])
                if self.position != end:
                    raise self.error(f"tag {tag} does not end where its size says", inner, start)
            self.position = end

    def length(self, path: str, width: int, nullable: bool) -> int:
        """Read a length or count; null is returned as 0."""
        start = self.position
        if self.flexible:
            size = self.varint(path) - 1
        else:
            self.skip(path, width)
            size = int.from_bytes(self.buffer[start : self.position], "big", signed=True)
        if size < 0 and not nullable:
            raise self.error("null is not allowed here", path, start)
        if size < 0 and self.flexible and self.position > start + 1:
            raise self.error("null in more than one byte", path, start)
        return max(size, 0)

    def varint(self, path: str) -> int:
        start = self.position
        value = 0
        for shift in range(0, 35, 7):
            self.skip(path, 1)
            byte = self.buffer[self.position - 1]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value & 0xFFFFFFFF
        raise self.error("a varint of more than five bytes", path, start)

    def skip(self, path: str, size: int) -> None:
        if size > self.left:
            raise self.error(f"needs {size} bytes, {max(self.left, 0)} left", path, self.position)
        self.position += size

    @property
    def left(self) -> int:
        return len(self.buffer) - self.position

    def error(self, what: str, field: str, offset: int) -> WireError:
        return WireError(f"{self.title}: {what}", field, offset)
