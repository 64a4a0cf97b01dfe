"""Settings that stand in a list: as ``name=value``, as a pair of two parts, or as one mapping for each.

Charts, Strimzi's and Confluent's operators, resources of Terraform, and files of applications have such lists.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from eosctl.settings.formats.tree import Leaf, Node, Row
from eosctl.settings.names.setting_names import is_setting

# What lists of settings call the part with the name; the other is the value.
_NAME_KEYS: Final = ("name", "key", "property", "setting", "option")

# What Confluent's REST API prints next to the value of a setting.
_NEXT_TO_VALUES: Final = frozenset({"synonyms", "metadata"})


def pairs_of(row: Row) -> list[tuple[str, Leaf]]:
    """Return the settings of a sequence that holds them alone: as ``name=value``, in two parts, or one per mapping.

    Nothing is returned when it holds other things.
    """
    pairs = [pair for node in row.nodes if (pair := _pair(node)) is not None]
    is_whole = len(pairs) == len(row.nodes) and len({name for name, _ in pairs}) == len(pairs)
    return pairs if is_whole and any(is_setting(name) for name, _ in pairs) else []


def _pair(node: Node) -> tuple[str, Leaf] | None:
    """Return the name and the value that a member of a sequence holds; None where it holds something else."""
    if isinstance(node, Leaf):
        name, equals, text = (node.text or "").partition("=")
        return (name.strip(), replace(node, text=text.strip())) if equals else None
    if isinstance(node, Row):
        parts = [part for part in node.nodes if isinstance(part, Leaf)]
        return (parts[0].text or "", parts[1]) if len(parts) == len(node.nodes) == 2 else None
    entries = [(key, child) for key, child in node.entries if key not in _NEXT_TO_VALUES]
    leaves = {key.lower(): child for key, child in entries if isinstance(child, Leaf)}
    named = next((leaves[key].text for key in _NAME_KEYS if key in leaves), None)
    if named and "value" in leaves and len(leaves) == len(entries):
        return named, Leaf(leaves["value"].text, node.line, leaves["value"].file)
    only = node.entries[0] if len(node.entries) == 1 else None
    return (only[0], only[1]) if only is not None and isinstance(only[1], Leaf) else None
