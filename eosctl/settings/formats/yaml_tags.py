"""Tags of YAML for values from elsewhere: functions of CloudFormation, secrets, and variables of other tools."""

from __future__ import annotations

from typing import Final

from eosctl.settings.formats.tree import Branch, Leaf, Node

_REFERENCE: Final = "Ref"
_FUNCTIONS: Final = frozenset(
    {
        *("Base64", "Cidr", "FindInMap", "GetAtt", "GetAZs", "If", "ImportValue", "Join", "Select", "Split", "Sub"),
        *("Length", "ToJsonString"),
    }
)
_LITERAL: Final = frozenset({"!unsafe"})
"""Tags that leave a text as it is: Ansible does not read it as a template."""


def tagged(tag: str, node: Node) -> Node:
    """Return a value with a tag of a tool's own: a function in CloudFormation's long form, else one that is not known.

    >>> tagged("!ImportValue", Leaf("brokers", 1)).entries[0][0], tagged("!vault", Leaf("a", 1)).text
    ('Fn::ImportValue', '${!vault}')
    """
    name = tag.removeprefix("!")
    if name == _REFERENCE:
        return Branch(((_REFERENCE, node),), node.line)
    if name in _FUNCTIONS:
        return Branch(((f"Fn::{name}", node),), node.line)
    return node if tag in _LITERAL or not isinstance(node, Leaf) else Leaf(f"${{{tag}}}", node.line)


def is_own_tag(tag: str | None) -> bool:
    """Return whether a tag is one of a tool's own, and not of YAML itself."""
    return tag is not None and len(tag) > 1 and tag.startswith("!")
