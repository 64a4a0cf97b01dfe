"""Secrets that workloads read: an operator names those with a user's credentials after the user."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from eosctl.settings.platforms.readers import is_read
from eosctl.settings.platforms.workload import Workload
from eosctl.settings.values.sources import Source

_KIND: Final = "Secret "


def with_secrets(sources: Iterable[Source], workloads: Iterable[Workload]) -> list[Source]:
    """Return the sources, each with the names of the Secrets that its workload reads."""
    readers = [(one, names) for one in workloads if (names := _secrets_of(one))]
    if not readers:
        return list(sources)

    def own(source: Source) -> frozenset[str]:
        held = source.held_by or source.place.file
        found = [
            names
            for one, names in readers
            if (source.part_of == one.name if source.part_of else is_read(held, one.reads))
        ]
        return frozenset().union(*found)

    return [replace(source, secrets=names) if (names := own(source)) else source for source in sources]


def _secrets_of(workload: Workload) -> frozenset[str]:
    return frozenset(name.removeprefix(_KIND) for name in workload.reads if name.startswith(_KIND))
