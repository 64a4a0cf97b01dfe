"""Keys and values in XML: ``App.config`` of .NET, and the maps and properties of beans of Spring.

Elements that give a key a value are read (``<add key= value=>``, ``<entry key= value=>``, ``<prop key=>value</prop>``,
``<property name= value=>``), each in the group of the element around it that has an id or a name of its own. A key of
.NET stands for mappings, as in JSON: ``Kafka.Consumer.GroupId`` or ``Kafka:Consumer:GroupId``.
"""

from __future__ import annotations

import re
from html import unescape
from typing import Final

from eosctl.settings.formats.tree import Branch, Leaf, Node

NAMES: Final = ("context.xml", "beans.xml", "kafka.xml", "producer.xml", "consumer.xml")
"""How the names of Spring's files end that may configure clients."""
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_ELEMENT: Final = re.compile(
    r"<(?P<tag>[\w:.-]+)(?P<attributes>(?:\s+[\w:.-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*)\s*(?P<end>/?)>(?P<text>[^<]*)"
)
_ATTRIBUTE: Final = re.compile(r"([\w:.-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_PAIRS: Final = frozenset({"add", "entry", "prop", "property"})
_GROUPS: Final = frozenset({"bean", "props", "map", "properties"})
_KEYS: Final = ("key", "name")
_OF_DOTNET: Final = re.compile(r"(?:[A-Z]\w*[.:])+[A-Z]\w*")


def parse_xml(text: str) -> tuple[Branch, ...]:
    """Return the groups of keys in a text of XML; a text of another kind has none."""
    plain = _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text)
    groups: dict[str, dict[str, Node]] = {}
    group, key = "", ""
    line, counted = 1, 0
    for found in _ELEMENT.finditer(plain):
        line += plain.count("\n", counted, found.start())
        counted = found.start()
        own = {name: unescape(double or single) for name, double, single in _ATTRIBUTE.findall(found["attributes"])}
        tag = found["tag"].rpartition(":")[2]
        if tag in _GROUPS:
            group = own.get("id") or own.get("name") or group
        if tag in _PAIRS:
            key = next((own[name] for name in _KEYS if name in own), "")
        value = own.get("value")
        if value is None and not found["end"] and tag in ("prop", "value"):
            value = unescape(found["text"].strip())
        if key and value is not None:
            _put(groups.setdefault(group, {}), key, Leaf(value, line))
            key = ""
    entries = [(name, _branch(members)) for name, members in groups.items()]
    plain_entries = [entry for name, branch in entries if not name for entry in branch.entries]
    return (Branch((*plain_entries, *(entry for entry in entries if entry[0])), 1),)


_Members = dict[str, Node]


def _put(members: _Members, key: str, leaf: Leaf) -> None:
    """Put a value under its key; parts of a key of .NET are mappings."""
    members[key.replace(":", ".") if _OF_DOTNET.fullmatch(key) else key] = leaf


def _branch(members: _Members) -> Branch:
    """Return keys as a mapping, those of .NET as mappings within mappings."""
    found: list[tuple[str, Node]] = []
    nested: dict[str, _Members] = {}
    for key, node in members.items():
        head, dot, rest = key.partition(".")
        if dot and _OF_DOTNET.fullmatch(key):
            nested.setdefault(head, {})[rest] = node
        else:
            found.append((key, node))
    found += [(head, _branch(inner)) for head, inner in nested.items()]
    first = next((node.line for node in members.values()), 1)
    return Branch(tuple(found), first)
