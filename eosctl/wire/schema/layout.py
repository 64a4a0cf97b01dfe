"""The layout of a message in one version: its fields in wire order."""

from __future__ import annotations

from typing import NamedTuple

from eosctl.wire.schema.table import Field, Section, VersionRange


class Slot(NamedTuple):
    """A field in one version.

    Attributes:
        field: The field of the table.
        nullable: Whether it may be null in this version.
        slots: The fields of its struct in this version.
    """

    field: Field
    nullable: bool
    slots: tuple[Slot, ...]


class Layout(NamedTuple):
    """The layout of a message in one version. Versions with equal layouts have the same encoding."""

    flexible: bool
    slots: tuple[Slot, ...]


def layout_of(section: Section, version: int) -> Layout:
    """Return the layout of a message in one version.

    Raises:
        KeyError: The table does not have this version.
    """
    if version not in section.versions:
        raise KeyError(version)
    return Layout(section.is_flexible(version), _slots(section.fields, version))


def layouts(section: Section) -> list[tuple[VersionRange, Layout]]:
    """Return the distinct layouts of a message, each with the versions that share it."""
    found: list[tuple[VersionRange, Layout]] = []
    for version in range(section.versions.first, section.versions.last + 1):
        layout = layout_of(section, version)
        if found and found[-1][1] == layout:
            found[-1] = (VersionRange(found[-1][0].first, version), layout)
        else:
            found.append((VersionRange(version, version), layout))
    return found


def _slots(fields: tuple[Field, ...], version: int) -> tuple[Slot, ...]:
    """Return the fields of a version: untagged fields in table order, then tagged fields by number."""
    present = [field for field in fields if version in field.versions]
    present.sort(key=lambda field: -1 if field.tag is None else field.tag)
    return tuple(
        Slot(field, field.nullable is not None and version in field.nullable, _slots(field.fields, version))
        for field in present
    )
