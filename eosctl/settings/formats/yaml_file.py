"""YAML as trees, one per document; libyaml parses where PyYAML has it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any, Final

import yaml

from eosctl.knowledge.yaml_aliases import check_aliases
from eosctl.settings.formats.tree import Branch, Leaf, Node, ParseError, Row
from eosctl.settings.formats.yaml_repairs import with_braces, with_own_anchors, without_braces
from eosctl.settings.formats.yaml_tags import is_own_tag, tagged

MAX_NODES: Final = 200_000
"""More values than any configuration has; aliases of aliases reach it soon."""
# An alias, or a star that may be one.
_ALIAS: Final = re.compile(r"(?<![^\s\[{,:-])\*")
_NULL: Final = "tag:yaml.org,2002:null"
_MERGE: Final = "tag:yaml.org,2002:merge"
_PLAIN: Final = {**dict.fromkeys(("", "~", "null", "Null", "NULL"), _NULL), "<<": _MERGE}
"""Plain scalars with a meaning of their own; every other one stays a text, as Kafka parses it itself."""


class YamlError(ParseError):
    """The text is not YAML."""


def _resolve(_: object, kind: type[yaml.Node], value: str, implicit: tuple[bool, bool]) -> str:
    """Return the tag of a node without one, in the place of PyYAML's search for numbers, flags, and dates."""
    if kind is yaml.ScalarNode:
        found = _PLAIN.get(value) if implicit[0] else None
        return found or yaml.resolver.BaseResolver.DEFAULT_SCALAR_TAG
    own = yaml.resolver.BaseResolver
    return own.DEFAULT_MAPPING_TAG if kind is yaml.MappingNode else own.DEFAULT_SEQUENCE_TAG


def _nothing(_: object, *__: object) -> None:
    """Stand for the resolvers of paths, which no file has."""


_LOADER: Final[Any] = type(
    "TextLoader",
    (getattr(yaml, "CSafeLoader", yaml.SafeLoader),),
    {"resolve": _resolve, "descend_resolver": _nothing, "ascend_resolver": _nothing},
)


def parse_yaml(text: str) -> tuple[Node, ...]:
    """Parse a file into one tree per document that is not empty; comments between separators are empty, too.

    Raises:
        YamlError: It is malformed, or has more than 200,000 values with its aliases.
    """
    try:
        return _trees(text)
    except yaml.MarkedYAMLError as error:
        try:
            if "duplicate anchor" in (error.context or ""):
                return _trees(with_own_anchors(text, _LOADER))
            if (plain := without_braces(text)) != text:
                return tuple(map(with_braces, _trees(plain)))
        except yaml.YAMLError:
            pass  # what is wrong with the text as it stands is reported
        mark = error.problem_mark or error.context_mark
        raise YamlError(mark.line + 1 if mark else 1, error.problem or "malformed YAML") from error
    except yaml.YAMLError as error:
        raise YamlError(1, str(error).splitlines()[0]) from error


def _trees(text: str) -> tuple[Node, ...]:
    nodes = [node for node in yaml.compose_all(text, Loader=_LOADER) if node is not None]
    for node in nodes if _ALIAS.search(text) else ():
        check_aliases(node)
    budget = iter(range(MAX_NODES))
    trees = [_tree(node, budget) for node in nodes]
    return tuple(tree for tree in trees if not isinstance(tree, Leaf) or tree.text is not None)


def _tree(node: Any, budget: Iterator[int]) -> Node:
    found = _untagged(node, budget)
    return tagged(node.tag, found) if is_own_tag(node.tag) else found


def _untagged(node: Any, budget: Iterator[int]) -> Node:
    line = node.start_mark.line + 1
    if node.id == "scalar":
        # A block's text begins on the line after its indicator.
        return Leaf(None if node.tag == _NULL else node.value, line + 1 if node.style in ("|", ">") else line)
    if next(budget, None) is None:
        raise YamlError(line, f"more than {MAX_NODES} values, aliases expanded")
    if node.id == "mapping":
        if (expression := _expression(node)) is not None:
            return Leaf(f"{{{{ {expression} }}}}", line)
        entries: list[tuple[str, Node]] = []
        merges: list[list[tuple[str, Node]]] = []
        for key, value in node.value:
            child = _tree(value, budget)
            if key.tag == _MERGE:
                merged = child.nodes if isinstance(child, Row) else (child,)
                merges.append([e for part in merged if isinstance(part, Branch) for e in part.entries])
                if sum(1 for _ in islice(budget, len(merges[-1]))) < len(merges[-1]):
                    raise YamlError(line, f"more than {MAX_NODES} values, merged")
            else:
                # The key's line is where people look, also when the value is an alias to elsewhere.
                entries.append((str(key.value), _at_key(child, key.start_mark.line + 1)))
        return Branch((*chain.from_iterable(reversed(merges)), *entries), line)
    return Row(tuple(_tree(child, budget) for child in node.value), line)


def _expression(node: Any) -> str | None:
    """Return the expression of a template that stands without quotes: ``{{ name }}`` is a mapping in a mapping."""
    inner = node.value[0][0].value if len(node.value) == 1 else None
    if not isinstance(inner, list) or len(inner) != 1 or not isinstance(inner[0], tuple):
        return None
    return str(inner[0][0].value)


def _at_key(node: Node, line: int) -> Node:
    if not isinstance(node, Leaf) or node.line == line or (node.line > line and "\n" in (node.text or "")):
        return node
    return Leaf(node.text, line)
