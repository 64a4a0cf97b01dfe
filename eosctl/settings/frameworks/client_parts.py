"""Join the parts of one client's settings that a file keeps in mappings of their own.

node-rdkafka takes the settings of a client and of its topics apart (``global``, ``topic``). Wrappers take some settings
by names of their own, and the others as they are: Dropwizard, or a program's ``additionalProperties``
or ``properties``.
"""

from __future__ import annotations

import re
from typing import Final

from eosctl.model.parameter import relaxed
from eosctl.settings.formats.tree import Branch, Leaf, Node
from eosctl.settings.names.setting_names import COMMON_WORDS, FLINK, is_setting
from eosctl.settings.names.spellings import LIBRARY_NAMES, setting_meant

_HALVES: Final = (frozenset({"global", "topic"}), frozenset({"globalconfig", "topicconfig"}))
_REST: Final = re.compile(
    r"(?:additional|extra|custom|other|raw|native|kafka)[-_]?"
    r"(?:kafka[-_]?)?(?:properties|props|config|configs|configuration|settings|options|overrides)",
    re.IGNORECASE,
)
_OWN: Final = "properties"


def has_own_properties(node: Branch) -> bool:
    """Return whether a mapping called ``properties`` holds settings as they are.

    In a table of Flink it is a prefix, and in a schema it holds what an object has.
    """
    if node.branch(_OWN) is None or node.text("type") == "object":
        return False
    return node.get("connector") is None and not any(FLINK.match(name) for name, _ in node.entries)


def with_parts(node: Branch) -> Branch:
    """Return a mapping with the settings of the mappings in it that configure the same client."""
    mappings = [(key, child) for key, child in node.entries if isinstance(child, Branch)]
    inner = {relaxed(key) for key, _ in mappings}
    has_halves = any(halves <= inner for halves in _HALVES)
    parts = {
        key
        for key, child in mappings
        if (has_halves and any(relaxed(key) in halves for halves in _HALVES))
        or ((_REST.fullmatch(key) or key == _OWN) and _holds_settings(node, child))
    }
    if not parts:
        return node
    entries: list[tuple[str, Node]] = []
    for key, child in node.entries:
        entries += child.entries if key in parts and isinstance(child, Branch) else ((key, child),)
    return Branch(tuple(entries), node.line)


def _holds_settings(node: Branch, rest: Branch) -> bool:
    """Return whether a mapping has settings of its own next to one that holds nothing but settings."""
    own = (key for key, child in node.entries if isinstance(child, Leaf))
    has_own = any(setting_meant(key) or relaxed(key) in LIBRARY_NAMES or _is_named(key) for key in own)
    return has_own and all(isinstance(child, Leaf) and is_setting(key) for key, child in rest.entries)


def _is_named(key: str) -> bool:
    return is_setting(key) and (key == "acks" or key not in COMMON_WORDS)


def are_clients_apart(node: Branch) -> bool:
    """Return whether a mapping holds clients as mappings next to each other, at least one under a name of its own."""
    own = {
        name: [key for key, leaf in child.entries if isinstance(leaf, Leaf) and "." in key and is_setting(key)]
        for name, child in node.entries
        if isinstance(child, Branch)
    }
    clients = {name: keys for name, keys in own.items() if keys}
    is_hidden = any(not is_setting(f"{name}.{key}") for name, keys in clients.items() for key in keys)
    return len(clients) > 1 and len(own) == len(node.entries) and is_hidden
