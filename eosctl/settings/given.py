"""Values as they were given, with the place where they stand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Given(NamedTuple):
    """A value in its text form and its origin (``client.properties:12``, ``-X``, ``profile prod``)."""

    text: str
    origin: str


def merge(layers: Iterable[Mapping[str, Given]]) -> dict[str, Given]:
    """Return one table of several, the first of which goes before the others."""
    merged: dict[str, Given] = {}
    for layer in layers:
        for name, given in layer.items():
            merged.setdefault(name, given)
    return merged
