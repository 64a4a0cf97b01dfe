"""Inventories of Ansible: which hosts are in which group, and the variables of both."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from eosctl.settings.formats.tree import Branch, Leaf, Node

ALL: Final = "all"
_GROUP_KEYS: Final = frozenset({"hosts", "children", "vars"})
_SECTION: Final = re.compile(r"^\[([^\]:]+)(?::(children|vars))?\]$")
_RANGE: Final = re.compile(r"\[(\d+|[a-z]):(\d+|[a-z])\]")
_MAX_HOSTS: Final = 10_000


class Inventory(msgspec.Struct):
    """Hosts and groups of one environment.

    Attributes:
        groups: The hosts of each group, without those of its children.
        children: The groups inside of each group.
        group_variables: The variables of each group.
        host_variables: The variables of each host.
    """

    groups: dict[str, list[str]] = msgspec.field(default_factory=dict)
    children: dict[str, list[str]] = msgspec.field(default_factory=dict)
    group_variables: dict[str, dict[str, Node]] = msgspec.field(default_factory=dict)
    host_variables: dict[str, dict[str, Node]] = msgspec.field(default_factory=dict)
    _by_host: dict[str, list[str]] = msgspec.field(default_factory=dict)

    def hosts_of(self, pattern: str) -> tuple[str, ...]:
        """Return the hosts that a play's pattern names, in the order of the inventory; unknown names are ignored."""
        found: dict[str, None] = {}
        for name in re.split(r"[:,]", pattern):
            found |= dict.fromkeys(self._members(name.strip(), frozenset()))
        return tuple(found)

    def groups_of(self, host: str) -> tuple[str, ...]:
        """Return the groups of a host, those that contain others first."""
        if not self._by_host:
            members = {group: self.hosts_of(group) for group in {**self.children, **self.groups} if group != ALL}
            for group in sorted(members, key=lambda one: -len(members[one])):
                for member in members[group]:
                    self._by_host.setdefault(member, []).append(group)
        return (ALL, *self._by_host.get(host, ()))

    def _members(self, name: str, above: frozenset[str]) -> Iterator[str]:
        if name == ALL:
            for hosts in self.groups.values():
                yield from hosts
        elif name in self.groups or name in self.children:
            yield from self.groups.get(name, ())
            for child in self.children.get(name, ()):
                if child not in above:
                    yield from self._members(child, above | {name})
        elif any(name in hosts for hosts in self.groups.values()):
            yield name


def inventory_of(document: Node) -> Inventory | None:
    """Return the inventory that a document of YAML is; None when it is something else."""
    if not isinstance(document, Branch) or document.is_plain:
        return None
    groups = [node for _, node in document.entries if isinstance(node, Branch)]
    has_hosts = any(node.get("hosts") is not None or node.get("children") is not None for node in groups)
    are_groups = all(map(_is_group, (node for _, node in document.entries)))
    if not has_hosts or not are_groups:
        return None
    found = Inventory()
    for name, node in document.entries:
        _add(found, name, node)
    return found


def _is_group(node: Node) -> bool:
    """Return whether a mapping has what a group has; one without hosts of its own is empty."""
    if isinstance(node, Branch):
        return {key for key, _ in node.entries} <= _GROUP_KEYS
    return isinstance(node, Leaf) and not node.text


def parse_inventory(text: str, file: str) -> Inventory | None:
    """Return the inventory that a text of INI is; None when lines do not follow its form.

    >>> parse_inventory("[brokers]\\nk[1:2] id=7\\n", "hosts").hosts_of("brokers")
    ('k1', 'k2')
    """
    found = Inventory()
    section, kind = "ungrouped", ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        if header := _SECTION.match(line):
            section, kind = header[1], header[2] or ""
            found.groups.setdefault(section, [])
            continue
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            return None
        if kind == "children":
            found.children.setdefault(section, []).append(line)
        elif kind == "vars":
            name, _, value = line.partition("=")
            found.group_variables.setdefault(section, {})[name.strip()] = Leaf(value.strip().strip("'\""), number)
        elif not words or "=" in words[0] or not all("=" in word for word in words[1:]):
            return None
        else:
            given: dict[str, Node] = {
                name: Leaf(value, number) for name, _, value in (word.partition("=") for word in words[1:])
            }
            for host in _ranged(words[0]):
                found.groups.setdefault(section, []).append(host)
                found.host_variables.setdefault(host, {}).update(given)
    return found if any(found.groups.values()) else None


def _add(found: Inventory, name: str, node: Node) -> None:
    found.groups.setdefault(name, [])
    hosts = node.get("hosts") if isinstance(node, Branch) else None
    for pattern, variables in hosts.entries if isinstance(hosts, Branch) else ():
        for host in _ranged(pattern):
            found.groups[name].append(host)
            if isinstance(variables, Branch):
                found.host_variables.setdefault(host, {}).update(dict(variables.entries))
    if isinstance(node, Branch):
        own = node.branch("vars")
        found.group_variables.setdefault(name, {}).update(dict(own.entries) if own else {})
        inner = node.branch("children")
        for child, below in inner.entries if inner else ():
            found.children.setdefault(name, []).append(child)
            _add(found, child, below)


def _ranged(pattern: str) -> Iterator[str]:
    """Yield the hosts of a pattern: ``k[01:03].acme`` has three."""
    match = _RANGE.search(pattern)
    if match is None:
        yield pattern
        return
    first, last = match[1], match[2]
    if first.isdecimal() != last.isdecimal():
        return
    names = (
        [str(number).zfill(len(first)) for number in range(int(first), min(int(last), int(first) + _MAX_HOSTS) + 1)]
        if first.isdecimal()
        else [chr(code) for code in range(ord(first), ord(last) + 1)]
    )
    for name in names:
        yield from _ranged(pattern[: match.start()] + name + pattern[match.end() :])


def host_facts(host: str) -> Mapping[str, Node]:
    """Return what Ansible itself sets for a host."""
    short = host.partition(".")[0]
    names = {"inventory_hostname": host, "inventory_hostname_short": short, "ansible_hostname": short}
    return {name: Leaf(text, 0) for name, text in {**names, "ansible_fqdn": host, "ansible_host": host}.items()}
