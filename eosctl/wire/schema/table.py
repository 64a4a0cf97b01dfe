"""Parser of the `.msg` message tables.

A file starts with a header, followed by one section for each message::

    api EndTxn 26
    kafka 3.9  0-4
    kafka 4.3  0-5

    request 0-5 flexible 3+
      transactional_id  string
      producer_id       int64

Each line is a field: name, type, and versions (by default, all versions of its struct), optionally followed by `tag N`
and `= default`. `[X]` is an array. `?` after the type makes it nullable, `?3+` from version 3 on. A capitalized type is
a struct; the indented lines below it are its fields. Without a default, the type's zero applies.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple, TypeAlias

Default: TypeAlias = "bool | int | float | str | None"
FOLDER = Path(__file__).parent
_FIXED = ("bool", "int8", "int16", "uint16", "int32", "uint32", "int64", "float64", "uuid")
PRIMITIVES = frozenset((*_FIXED, "string", "bytes", "records"))


class VersionRange(NamedTuple):
    """A range of versions, both ends included."""

    first: int
    last: int

    def __contains__(self, version: object) -> bool:
        return isinstance(version, int) and self.first <= version <= self.last


class Field(NamedTuple):
    """A field of a struct, over all versions.

    Attributes:
        name: The field's name, Kafka's own in snake case.
        type: The name of a primitive type or a struct.
        is_array: Whether the field is an array of that type.
        versions: The versions that have the field.
        nullable: The versions in which it may be null.
        tag: The tag's number if the field is tagged.
        default: The default as written, if it differs from the type's zero.
        has_default: Whether a default is written.
        fields: The fields of a struct.
    """

    name: str
    type: str
    is_array: bool
    versions: VersionRange
    nullable: VersionRange | None
    tag: int | None
    default: Default
    has_default: bool
    fields: tuple[Field, ...]

    @property
    def is_struct(self) -> bool:
        """Return whether the type is a struct."""
        return self.type not in PRIMITIVES


class Section(NamedTuple):
    """A message: `request` and `response` of an API, `key` and `value` of a record, or `record`."""

    name: str
    versions: VersionRange
    flexible_from: int | None
    fields: tuple[Field, ...]

    def is_flexible(self, version: int) -> bool:
        """Return whether a version uses compact lengths and tagged fields (KIP-482)."""
        return self.flexible_from is not None and version >= self.flexible_from


class Table(NamedTuple):
    """The content of a table file.

    Attributes:
        kind: `api` or `record`.
        name: Kafka's name, such as `EndTxn`.
        number: The API key, or the record's type; None if Kafka does not define one.
        served: For an API, the stable versions that each release of Kafka serves.
        sections: The messages.
    """

    kind: str
    name: str
    number: int | None
    served: dict[str, VersionRange]
    sections: tuple[Section, ...]

    def section(self, name: str) -> Section:
        """Return a section by its name."""
        return next(section for section in self.sections if section.name == name)


class TableError(ValueError):
    """A table does not follow the language; the message contains file and line."""


def load_table(path: Path) -> Table:
    """Read a table file.

    Raises:
        TableError: The file does not follow the language.
    """
    return parse_table(path.read_text(encoding="utf-8"), source=path.name)


def parse_table(text: str, source: str = "table") -> Table:
    """Parse the text of a table.

    Raises:
        TableError: The text does not follow the language.
    """
    lines = [_Line(source, at, line) for at, line in enumerate(text.splitlines(), 1) if line.strip()]
    kind, name, number, served = "", "", None, {}
    sections: list[Section] = []
    at = 0
    while at < len(lines):
        line, words = lines[at], lines[at].text.split()
        at += 1
        try:
            if words[0] in ("api", "record"):
                kind, name, number = words[0], words[1], int(words[2]) if words[2:] else None
                continue
            if words[0] == "kafka":
                served[words[1]] = _version_range(words[2])
                continue
            versions = _version_range(words[1])
            flexible_from = int(words[3].removesuffix("+")) if words[2:] else None
        except (ValueError, IndexError) as error:
            raise line.refusal(error) from error
        fields, at = _parse_fields(lines, at, versions)
        sections.append(Section(words[0], versions, flexible_from, fields))
    return Table(kind, name, number, served, tuple(sections))


class _Line(NamedTuple):
    source: str
    number: int
    text: str

    def refusal(self, reason: Exception) -> TableError:
        return TableError(f"{self.source}, line {self.number}: {self.text.strip()!r}: {reason}")

    @property
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip())


def _parse_fields(lines: list[_Line], at: int, versions: VersionRange) -> tuple[tuple[Field, ...], int]:
    """Parse the fields below line `at - 1`; return them and the line after."""
    outer = lines[at - 1].indent
    fields: list[Field] = []
    while at < len(lines) and lines[at].indent > outer:
        line = lines[at]
        try:
            field = _parse_field(line.text.split(), versions)
        except (ValueError, IndexError) as error:
            raise line.refusal(error) from error
        inner, at = _parse_fields(lines, at + 1, field.versions)
        if inner and not field.is_struct:
            raise line.refusal(ValueError(f"a {field.type} has no fields"))
        fields.append(field._replace(fields=inner))
    return tuple(fields), at


def _parse_field(words: list[str], outer: VersionRange) -> Field:
    name, type_text, *rest = words
    type_name, is_nullable, nullable_text = type_text.partition("?")
    is_array = type_name.startswith("[")
    versions = outer
    if rest and rest[0][0].isdigit():
        versions = _version_range(rest.pop(0), outer.last)
    nullable = None
    if is_nullable:
        nullable = _version_range(nullable_text, outer.last) if nullable_text else versions
    tag = None
    if rest and rest[0] == "tag":
        tag = int(rest[1])
        del rest[:2]
    has_default = bool(rest)
    default: Default = None
    if has_default:
        if rest[0] != "=" or len(rest) != 2:
            raise ValueError(f"expected a default, found {' '.join(rest)}")
        default = json.loads(rest[1])
    return Field(name, type_name.strip("[]"), is_array, versions, nullable, tag, default, has_default, ())


def _version_range(text: str, last: int | None = None) -> VersionRange:
    """Parse `3`, `0-5`, or, when the last version is known, `3+`."""
    if text.endswith("+"):
        if last is None:
            raise ValueError(f"{text} has no end here")
        return VersionRange(int(text[:-1]), last)
    first, _, end = text.partition("-")
    return VersionRange(int(first), int(end or first))
