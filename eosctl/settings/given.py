"""Values as they were given, with the place where they stand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from eosctl.model.client_config import Given


def merge(layers: Iterable[Mapping[str, Given]]) -> dict[str, Given]:
    """Return one table of several, the first of which goes before the others."""
    merged: dict[str, Given] = {}
    for layer in layers:
        for name, given in layer.items():
            merged.setdefault(name, given)
    return merged
