"""Rows about the program itself."""

from __future__ import annotations

from typing import Final

import msgspec

from eosctl.render.listing import Column


class SchemaItem(msgspec.Struct, frozen=True):
    """A result with a published shape."""

    name: str
    commands: str


class VersionItem(msgspec.Struct, frozen=True):
    """A component and its version."""

    component: str
    version: str


SCHEMA_COLUMNS: Final[tuple[Column[SchemaItem], ...]] = (
    Column("NAME", lambda item: item.name),
    Column("COMMANDS", lambda item: item.commands),
)
VERSION_COLUMNS: Final[tuple[Column[VersionItem], ...]] = (
    Column("COMPONENT", lambda item: item.component),
    Column("VERSION", lambda item: item.version),
)
