"""Name the kinds of incidents with a property, by ``kinds.toml``: a new kind is entered there once."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from importlib.resources import files


def kinds_with(property_name: str) -> frozenset[str]:
    """Return the kinds of incidents with a property of ``kinds.toml``.

    Raises:
        KeyError: No kind has this property.

    >>> sorted(kinds_with("ends_server"))
    ['log_dir_failure', 'metadata_fault', 'out_of_memory', 'server_ended_by_a_fault']
    """
    return _by_property()[property_name]


@cache
def _by_property() -> Mapping[str, frozenset[str]]:
    rows: Mapping[str, list[str]] = tomllib.loads(
        files("eosctl.logs.incidents").joinpath("kinds.toml").read_text("utf-8")
    )
    kinds: dict[str, set[str]] = defaultdict(set)
    for kind, names in rows.items():
        for name in names:
            kinds[name].add(kind)
    return {name: frozenset(found) for name, found in kinds.items()}
