"""Generate the typed values: a class for each struct, with the fields of all versions."""

from __future__ import annotations

from typing import NamedTuple

from eosctl.wire.schema.table import Field, Section, Table

FORMATS = {
    "bool": "?", "int8": "b", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "q",
    "float64": "d", "uuid": "16s",
}  # fmt: skip
_TYPES = {"bool": "bool", "float64": "float", "uuid": "bytes", "string": "str", "bytes": "bytes", "records": "bytes"}
_ZEROS = {"bool": "False", "float64": "0.0", "uuid": "ZERO_UUID", "string": '""', "bytes": 'b""', "records": "None"}


class Attribute(NamedTuple):
    """A field of a Python class."""

    name: str
    type: str
    default: str


class Struct(NamedTuple):
    """A class to generate."""

    name: str
    base: str
    attributes: tuple[Attribute, ...]


class Structs:
    """All structs of a table.

    Attributes:
        order: Every struct by Python name, dependencies first.
        names: From section and Kafka's struct name to the Python name.
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self.order: dict[str, Struct] = {}
        self.names: dict[tuple[str, str], str] = {}
        self._merged: dict[tuple[str, str], tuple[Field, ...]] = {}
        for section in table.sections:
            self._collect(section.name, section.fields)
        for key in self._merged:
            self.names[key] = self._python_name(*key)
        for section in table.sections:
            self._write(section)

    def message(self, section: Section) -> Struct:
        """Return the struct of a whole message."""
        return self.order[message_name(self.table, section)]

    def of(self, section: Section, field: Field) -> Struct:
        """Return the struct of a field."""
        return self.order[self.names[section.name, field.type]]

    def preserves_tags(self, section: Section) -> bool:
        """Return whether unknown tags are kept: for stored records, not for messages."""
        return self.table.kind == "record" and section.flexible_from is not None

    def _collect(self, section: str, fields: tuple[Field, ...]) -> None:
        for field in fields:
            if field.is_struct:
                known = self._merged.get((section, field.type), ())
                names = {one.name for one in known}
                self._merged[section, field.type] = known + tuple(f for f in field.fields if f.name not in names)
                self._collect(section, field.fields)

    def _python_name(self, section: str, struct: str) -> str:
        """Return a struct's name, prefixed with the section if another section uses the name for another struct."""
        others = [key for key in self._merged if key[1] == struct]
        shapes = {tuple(_shape(field) for field in self._merged[key]) for key in others}
        return struct if len(shapes) == 1 else section.capitalize() + struct

    def _write(self, section: Section) -> None:
        for field in section.fields:
            self._write_nested(section, field)
        name = message_name(self.table, section)
        base = f'Request["{self.table.name}Response"]' if section.name == "request" else "Struct"
        self._add(section, name, base, section.fields)

    def _write_nested(self, section: Section, field: Field) -> None:
        if not field.is_struct:
            return
        merged = self._merged[section.name, field.type]
        for inner in merged:
            self._write_nested(section, inner)
        name = self.names[section.name, field.type]
        self._add(section, name, "Struct", merged)

    def _add(self, section: Section, name: str, base: str, fields: tuple[Field, ...]) -> None:
        attributes = [self._attribute(section, field) for field in fields]
        if self.preserves_tags(section):
            attributes.append(Attribute("unknown_tags", "Sequence[tuple[int, bytes]]", "()"))
        self.order.setdefault(name, Struct(name, base, tuple(attributes)))

    def _attribute(self, section: Section, field: Field) -> Attribute:
        kind = self.names[section.name, field.type] if field.is_struct else _TYPES.get(field.type, "int")
        kind = f"Sequence[{kind}]" if field.is_array else kind
        nullable = field.nullable is not None or field.type == "records"
        return Attribute(field.name, f"{kind} | None" if nullable else kind, self.default(section, field))

    def default(self, section: Section, field: Field) -> str:
        """Return a field's default as Python source."""
        if field.has_default:
            return repr(field.default)
        if field.is_array:
            return "()"
        if field.is_struct:
            return f"{self.names[section.name, field.type]}()"
        return _ZEROS.get(field.type, "0")


def message_name(table: Table, section: Section) -> str:
    """Return the struct name of a whole message."""
    return table.name + ("" if section.name == "fields" else section.name.capitalize())


def _shape(field: Field) -> tuple[object, ...]:
    inner = tuple(_shape(one) for one in field.fields)
    return field.name, field.type, field.is_array, field.nullable is None, field.has_default, field.default, inner
