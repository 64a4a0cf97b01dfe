"""Topics that applications name under keys of their own: ``app.topics.orders=orders``, ``OUTPUT_TOPIC=payments``.

A document may configure several applications. A topic belongs to those that share most of the path to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.errors import ConfigFileError
from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Place, Role, Value
from eosctl.model.parameter import relaxed
from eosctl.settings.files.documents import parse_within
from eosctl.settings.formats.tree import Branch, Leaf, Node, Row
from eosctl.settings.values.sources import Source

_USERS: Final = (Role.PRODUCER, Role.CONSUMER, Role.SPRING, Role.STREAMS)
_WORD: Final = "topic"
_TOPIC: Final = re.compile(r"(?i:topics?)(?![a-z])")
_VERBS: Final = re.compile(
    r"(?<![A-Za-z])(?i:listen|listens|subscribe|subscribes|subscriptions?|consumes|publish|publishes|produces|channels?)"
    r"(?![a-z])"
)
"""What applications do with a topic, in keys without the word."""
_NAME: Final = re.compile(r"(?=[^,]*[A-Za-z])[\w.-]{2,249}")
_DEFAULT: Final = re.compile(r"\$\{[\w.-]+:-?([\w.-]+)\}")
"""A reference with a default: ``${ORDERS_TOPIC:orders}``."""
_OF_MANY: Final = frozenset({"services", "resources", "resource", "releases", "applications", "jobs", "clients"})
"""Mappings of things that have nothing in common."""
_NO_NAMES: Final = frozenset(
    {
        *("partitions", "replicas", "replication", "replicationfactor", "type", "format", "serde", "schema", "prefix"),
        *("suffix", "class", "strategy", "policy", "enabled", "groupid", "group", "description", "separator", "owner"),
        *("true", "false", "null", "none", "json", "avro", "string", "auto"),
    }
)
_MOST_LEAVES: Final = 2_000
"""More values than the file of an application has."""

_Path = tuple[str, ...]


class _Leaf(NamedTuple):
    path: _Path
    leaf: Leaf


def with_named_topics(sources: list[Source], document: Node, file: str) -> list[Source]:
    """Return the sources, applications and clients with the topics that the document names for them."""
    if not any(_takes_topics(source) for source in sources):
        return sources
    if not _has_topics(document):
        return sources
    leaves = list(_leaves(document, ()))
    topics = (
        [value for one in leaves if (value := _topic(one, file)) is not None] if len(leaves) <= _MOST_LEAVES else []
    )
    if not topics:
        return sources
    if len(sources) == 1 and isinstance(document, Branch) and document.is_plain:
        return [replace(sources[0], topics=tuple(topics))]
    by_line: dict[int, list[_Path]] = {}
    for one in leaves:
        by_line.setdefault(one.leaf.line, []).append(one.path)
    paths = [_path_of(source, by_line, file) if _takes_topics(source) else None for source in sources]
    given: dict[int, list[Value]] = {}
    for topic in topics:
        for number in _owners(tuple(topic.key.split("."))[:-1], paths):
            given.setdefault(number, []).append(topic)
    return [replace(one, topics=tuple(given[at])) if at in given else one for at, one in enumerate(sources)]


def _takes_topics(source: Source) -> bool:
    return source.role in _USERS and not source.topics


def _has_topics(node: Node) -> bool:
    """Return whether a key, a name, or a block of text in a document has the word topic."""
    if isinstance(node, Leaf):
        return "\n" in (node.text or "") and _WORD in (node.text or "").lower()
    if isinstance(node, Row):
        return any(map(_has_topics, node.nodes))
    for key, child in node.entries:
        if (
            _WORD in key.lower()
            or _VERBS.search(key)
            or (key == "name" and isinstance(child, Leaf) and _WORD in (child.text or "").lower())
        ):
            return True
        if (not isinstance(child, Leaf) or "\n" in (child.text or "")) and _has_topics(child):
            return True
    return False


def _leaves(node: Node, path: _Path) -> Iterator[_Leaf]:
    """Yield the values of a document; one with a name next to it, as Kubernetes has variables, by its name."""
    if isinstance(node, Leaf) and "\n" in (node.text or ""):
        yield from _of_block(node, path)
    elif isinstance(node, Leaf):
        yield _Leaf(path, node)
    elif isinstance(node, Row):
        for number, child in enumerate(node.nodes):
            yield from _leaves(child, path if isinstance(child, Leaf) else (*path, str(number)))
    elif (name := node.text("name")) and isinstance(value := node.get("value"), Leaf):
        yield _Leaf((*path[:-1], name), value)
    else:
        for key, child in node.entries:
            yield from _leaves(child, (*path, *key.split(".")))


def _of_block(leaf: Leaf, path: _Path) -> Iterator[_Leaf]:
    """Yield the values of a file that stands as a block of text in another one, under its name."""
    text = leaf.text or ""
    if _WORD not in text.lower() or not path:
        return
    try:
        for document in parse_within(f"block.{path[-1]}", text, leaf.line):
            yield from _leaves(document, path)
    except ConfigFileError:
        return  # a block of some other text


def _topic(one: _Leaf, file: str) -> Value | None:
    """Return the names of topics in a value, by its key; None where the key is not one of topics."""
    text, last = one.leaf.text, one.path[-1]
    if not text or "\n" in text:
        return None
    is_topic = any(_TOPIC.search(part) for part in one.path[-3:]) or _VERBS.search(last) is not None
    if not is_topic or relaxed(last) in _NO_NAMES or "".join(map(relaxed, one.path)).endswith(_settings()):
        return None
    names, key = _names(one.leaf), ".".join(one.path)
    return Value(key, names, key, Place(one.leaf.file or file, one.leaf.line)) if names else None


@cache
def _settings() -> tuple[str, ...]:
    return tuple(map(relaxed, load_tables()["topic"].parameters))


def _names(leaf: Leaf) -> str:
    """Return the names of topics in a value, joined with commas."""
    text = _DEFAULT.sub(r"\1", leaf.text or "")
    parts = [part for part in re.split(r"[,;\s]+", text.strip(" []")) if part]
    names = [part.strip("\"'") for part in parts]
    are_names = all(_NAME.fullmatch(name) and name.lower() not in _NO_NAMES for name in names)
    return ",".join(names) if are_names else ""


def _path_of(source: Source, by_line: dict[int, list[_Path]], file: str) -> _Path | None:
    """Return the path that all values of a source have in common; None where they stand in other files."""
    own = [value for value in source.values.values() if value.place and value.place.file == file]
    places = {(value.place.line, value.key.rpartition(".")[2]) for value in own if value.place}
    found = [path for line, name in places if (path := _named(by_line.get(line, ()), name)) is not None]
    return _common(found) if found else None


def _named(paths: Iterable[_Path], name: str) -> _Path | None:
    """Return what stands above a value: one of the paths on its line, the one with its name if there are several."""
    found = list(paths)
    return next((path[:-1] for path in found if path[-1:] == (name,)), found[0][:-1] if found else None)


def _common(paths: Iterable[_Path]) -> _Path:
    first, *others = paths
    for other in others:
        first = first[: _shared(first, other)]
    return first


def _shared(one: _Path, other: _Path) -> int:
    for number, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return number
    return min(len(one), len(other))


def _owners(path: _Path, sources: list[_Path | None]) -> list[int]:
    """Return the sources next to a path; none where it is that of a neighbor that has nothing to do with them."""
    shared = [-1 if own is None else _shared(path, own) for own in sources]
    most = max(shared)
    if most < 0:
        return []
    around = path[:most]
    is_neighbor = most < len(path) and bool(around) and around[-1].lower() in _OF_MANY
    is_numbered = most < len(path) and path[most].isdecimal()
    return [] if is_neighbor or is_numbered else [number for number, count in enumerate(shared) if count == most]
