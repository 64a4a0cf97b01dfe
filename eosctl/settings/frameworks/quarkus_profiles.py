"""Quarkus' profiles in one file: ``%prod.mp.messaging...`` and, in YAML, a mapping under ``"%prod"``.

A built application runs with the profile ``prod`` by default. Values of that profile take precedence over those without
a profile, and those of other profiles are ignored.
"""

from __future__ import annotations

from typing import Final

from eosctl.settings.formats.tree import Branch, Node

_MARK: Final = "%"
_RUNS: Final = "prod"


def as_built(document: Node) -> Node:
    """Return a document as an application that was built reads it; one without profiles as it is."""
    if not isinstance(document, Branch) or not any(key.startswith(_MARK) for key, _ in document.entries):
        return document
    plain = [(key, node) for key, node in document.entries if not key.startswith(_MARK)]
    chosen: list[tuple[str, Node]] = []
    for key, node in document.entries:
        profiles, _, rest = key.removeprefix(_MARK).partition(".")
        if not key.startswith(_MARK) or _RUNS not in profiles.strip("{}").split(","):
            continue
        if rest:
            chosen.append((rest, node))
        elif isinstance(node, Branch):
            chosen.extend(node.entries)
    return Branch((*plain, *chosen), document.line)
