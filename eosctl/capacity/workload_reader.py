"""Read sections, mappings, and single values of a workload file: mistakes and assumptions are collected on the way."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from eosctl.capacity.quantities import QuantityError
from eosctl.capacity.range_value import RangeMistake, is_numeric, read_range
from eosctl.capacity.workload_schema import UNKNOWN, Key
from eosctl.model.workload import Assumption


@dataclass
class WorkloadReader:
    """One pass over a file.

    Attributes:
        source: The name of the file.
        mistakes: Line, column, and what is wrong; all are reported together.
        assumptions: What the file does not state.
        places: Line and column of each key that is stated, by its dotted path.
        ranges: The keys that are given as ranges.
    """

    source: str
    mistakes: list[tuple[int, int, str]] = field(default_factory=list)
    assumptions: list[Assumption] = field(default_factory=list)
    places: dict[str, tuple[int, int]] = field(default_factory=dict)
    ranges: list[str] = field(default_factory=list)

    def place(self, path: str) -> tuple[int, int]:
        """Return where a key is, or else what it would be in."""
        while path and path not in self.places:
            path = path.rpartition(".")[0]
        return self.places.get(path, (1, 1))

    def complain(self, node: yaml.Node, what: str) -> None:
        """Add a mistake at the place of a node, once."""
        mistake = (*mark_of(node), what)
        if mistake not in self.mistakes:
            self.mistakes.append(mistake)

    def section(
        self, node: yaml.Node | None, path: str, keys: Mapping[str, Key], also: tuple[str, ...] = ()
    ) -> dict[str, Any] | None:
        """Return the values of a section by the fields that they fill; None without the section.

        Args:
            node: The section.
            path: Its dotted path.
            keys: The keys that are read.
            also: Keys that are allowed, and read elsewhere.
        """
        if node is None:
            return None
        self.places[path] = mark_of(node)
        given = self.mapping(node, path, (*keys, *also))
        values: dict[str, Any] = {}
        for name, key in keys.items():
            if name in given:
                self.places[f"{path}.{name}"] = mark_of(given[name])
                text = self.likely_text(given[name], f"{path}.{name}", key.parse)
                if text is None:
                    continue
                if text == UNKNOWN and key.assumed == UNKNOWN:
                    values[key.attribute] = None
                    continue
                try:
                    values[key.attribute] = key.parse(text)
                except QuantityError as error:
                    self.complain(given[name], f"{path}.{name}: {error}")
            elif key.assumed is None:
                self.complain(node, f"{path}.{name} is missing")
            elif key.assumed == UNKNOWN:
                values[key.attribute] = None
            else:
                values[key.attribute] = key.parse(key.assumed)
                self.assumptions.append(Assumption(f"{path}.{name}", key.assumed, key.why))
        return values

    def named(self, node: yaml.Node | None, path: str, *, may_be_empty: bool = False) -> list[tuple[str, yaml.Node]]:
        """Return the members of a mapping whose keys are names."""
        if node is None:
            return []
        found = list(self.mapping(node, path, None).items())
        for name, value in found:
            if not name:
                self.complain(value, f"{path} has a name that is empty")
        if not found and not may_be_empty:
            self.complain(node, f"{path} is empty")
        return found

    def mapping(self, node: yaml.Node, path: str, allowed: tuple[str, ...] | None) -> dict[str, yaml.Node]:
        """Return the values of a mapping by key; None allows every key."""
        if not isinstance(node, yaml.MappingNode):
            is_empty = isinstance(node, yaml.ScalarNode) and not node.value
            self.complain(node, f"{path} is {'empty' if is_empty else 'not a mapping of keys to values'}")
            return {}
        found: dict[str, yaml.Node] = {}
        for key, value in node.value:
            name = self.text(key)
            if name in found:
                self.complain(key, f"{path} has {name} twice")
            if allowed is not None and name not in allowed:
                self.complain(key, f"{path} has no key {name!r}{suggest(name, allowed)}")
            else:
                found[name] = value
        return found

    def likely_text(self, node: yaml.Node, path: str, parse: Callable[[str], Any]) -> str | None:
        """Return the text of a value, the likely one of a range; None if the range is wrong."""
        if not isinstance(node, yaml.MappingNode) or not is_numeric(parse):
            return self.text(node)
        found = read_range(node, parse)
        if isinstance(found, RangeMistake):
            self.complain(found.node, f"{path}: {found.what}")
            return None
        self.ranges.append(path)
        return found.likely

    def text(self, node: yaml.Node) -> str:
        """Return the text of a single value; empty for any other node, which is a mistake."""
        if isinstance(node, yaml.ScalarNode):
            return str(node.value).strip()
        self.complain(node, "a single value is expected here")
        return ""


def mark_of(node: yaml.Node) -> tuple[int, int]:
    """Return the line and the column of a node, from 1 on."""
    return node.start_mark.line + 1, node.start_mark.column + 1


def suggest(name: str, known: Iterable[str]) -> str:
    """Return the end of a message that names the nearest known name; empty without one."""
    near = difflib.get_close_matches(name, tuple(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""
