"""The YAML tree of a workload file: parse it, find its keys by dotted paths, change one value."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import yaml

from eosctl.capacity.range_value import split_range
from eosctl.capacity.workload_schema import APPLICATION_KEYS, CLUSTER_KEYS, STORE_KEYS, TOPIC_KEYS
from eosctl.errors import ConfigFileError, UsageError

MAX_BYTES: Final = 1 << 20
#: The key with names of topics as values.
WRITTEN_BY: Final = "written_by"
#: What the parser reports for a file with several documents.
SECOND_DOCUMENT: Final = "but found another document"
_CLOSE_NAMES: Final = 3
#: The names on the way from the root to a value.
Path = tuple[str, ...]


def parse_tree(text: str, source: str) -> yaml.Node | None:
    """Parse the YAML of a workload file; None when it is empty.

    Raises:
        ConfigFileError: It is too large, or not YAML.
    """
    if len(text) > MAX_BYTES:
        raise ConfigFileError(f"{source} is larger than 1 MiB.", "A workload has a few hundred lines.", "Check it.")
    try:
        root: yaml.Node | None = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        if error.problem == SECOND_DOCUMENT:
            what = f"{source}{where} begins a second document; a workload file has one."
            next_step = "Name the file of a workload; capacity observe --description reads the resources of Strimzi."
            raise ConfigFileError(what, "", next_step) from error
        what = f"{source}{where} is not YAML: {error.problem or error}."
        raise ConfigFileError(what, "", "Correct this place; the file may be cut off.") from error
    except (yaml.YAMLError, RecursionError) as error:
        what = f"{source} is not YAML: {str(error).splitlines()[0]}."
        raise ConfigFileError(what, "", "Correct the file.") from error
    return root


def find_paths(root: yaml.Node | None) -> Mapping[str, Path]:
    """Return each key that a workload file can state, by its dotted path.

    Topics, applications, and stores are given by name or by position from 0 on; names may contain dots. A name wins
    over a position.
    """
    found: dict[str, Path] = {"growth_per_year": ("growth_per_year",)}
    found |= {f"cluster.{key}": ("cluster", key) for key in CLUSTER_KEYS}
    topics = _names(_child(root, "topics"))
    for path, dotted in _members(("topics",), "topics", topics):
        for key in TOPIC_KEYS:
            found.setdefault(f"{dotted}.{key}", (*path, key))
    applications = _child(root, "applications")
    for path, dotted in _members(("applications",), "applications", _names(applications)):
        for key in APPLICATION_KEYS:
            found.setdefault(f"{dotted}.{key}", (*path, key))
        for topic in topics:
            found.setdefault(f"{dotted}.writes.{topic}", (*path, "writes", topic))
            found.setdefault(f"{dotted}.{WRITTEN_BY}.{topic}", (*path, WRITTEN_BY, topic))
        stores = _names(_child(_child(applications, path[-1]), "stores"))
        for store, dotted_store in _members((*path, "stores"), f"{dotted}.stores", stores):
            for key in STORE_KEYS:
                found.setdefault(f"{dotted_store}.{key}", (*store, key))
    return found


def list_paths(root: yaml.Node | None) -> Iterator[tuple[str, Path]]:
    """Yield each key that a workload file can state once, by name."""
    return ((name, path) for name, path in find_paths(root).items() if name == ".".join(path))


def find_node(root: yaml.Node | None, path: Path) -> yaml.Node | None:
    """Return the node at a path; None if the file does not state it."""
    node = root
    for name in path:
        node = _child(node, name)
    return node


def find_value(root: yaml.Node | None, path: Path) -> str | None:
    """Return the text at a path, the likely one of a range; None if the file does not state it."""
    node = find_node(root, path)
    if (texts := split_range(node)) is not None:
        return texts.likely
    return str(node.value).strip() if isinstance(node, yaml.ScalarNode) else None


def set_value(root: yaml.Node | None, path: Path, text: str) -> yaml.Node | None:
    """Return the tree with another value at a path; nodes that aliases share are not changed elsewhere.

    A key that the file does not state is placed where its section begins.
    """
    if root is None:
        return None
    if not path:
        return yaml.ScalarNode("tag:yaml.org,2002:str", text, root.start_mark, root.end_mark)
    if not isinstance(root, yaml.MappingNode):
        return root
    name, *rest = path
    pairs = [(key, set_value(value, tuple(rest), text) if key.value == name else value) for key, value in root.value]
    if all(key.value != name for key, _ in root.value):
        key = yaml.ScalarNode("tag:yaml.org,2002:str", name, root.start_mark, root.start_mark)
        empty = yaml.MappingNode("tag:yaml.org,2002:map", [], root.start_mark, root.start_mark)
        pairs.append((key, set_value(empty, tuple(rest), text)))
    return yaml.MappingNode(root.tag, pairs, root.start_mark, root.end_mark)


def unknown_key(asked: str, paths: Iterable[str], short_names: Iterable[str]) -> UsageError:
    """Return the error for a key that neither the file nor the short names have, with close ones."""
    short = tuple(short_names)
    near = difflib.get_close_matches(asked, (*short, *paths), n=_CLOSE_NAMES)
    return UsageError(
        f"--what-if {asked!r} is not a key of the workload file.",
        f"Keys are dotted paths, such as cluster.brokers and topics.NAME.rate; short names: {', '.join(short)}.",
        f"Did you mean {' or '.join(near)}?" if near else "eosctl capacity init writes a file with every key.",
    )


def _members(section: Path, dotted: str, names: tuple[str, ...]) -> Iterator[tuple[Path, str]]:
    """Yield the path of each member with its dotted form: all by name first, then all by position."""
    for name in names:
        yield (*section, name), f"{dotted}.{name}"
    for at, name in enumerate(names):
        yield (*section, name), f"{dotted}.{at}"


def _child(node: yaml.Node | None, name: str) -> yaml.Node | None:
    if not isinstance(node, yaml.MappingNode):
        return None
    return next((value for key, value in node.value if key.value == name), None)


def _names(node: yaml.Node | None) -> tuple[str, ...]:
    if not isinstance(node, yaml.MappingNode):
        return ()
    return tuple(str(key.value) for key, _ in node.value)
