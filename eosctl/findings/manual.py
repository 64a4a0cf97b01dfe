"""Define a check as listed in the catalog, and its manual."""

from __future__ import annotations

from typing import Final

import msgspec

DIRECTORIES: Final = "data-directories"
FILES: Final = "configuration-files"
"""What a check needs that sends nothing to a cluster."""


class CheckItem(msgspec.Struct, frozen=True):
    """A check as listed in the catalog; ``since`` and ``until`` are Kafka releases, empty when it applies to all."""

    id: str
    name: str
    title: str
    area: str
    severity: str
    summary: str
    needs: tuple[str, ...]
    uses: tuple[str, ...]
    since: str
    until: str
    tags: tuple[str, ...]
    references: tuple[str, ...]


class ManualItem(msgspec.Struct, frozen=True):
    """A check with its manual; ``sections`` in the order of the manual."""

    check: CheckItem
    sections: dict[str, str]
