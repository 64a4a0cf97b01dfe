"""Projects of Ansible: the hosts on which a template is written or a container started, with their variables.

Variables override each other in Ansible's own order: defaults of the role, the inventory's groups, ``group_vars``, the
inventory's hosts, ``host_vars``, variables of the play, and ``vars`` of the role.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.errors import ConfigFileError
from eosctl.model.deployment import Place, Role, Value
from eosctl.settings.files.documents import parse_documents
from eosctl.settings.files.file_texts import is_template, read_text
from eosctl.settings.formats.jinja import fill
from eosctl.settings.formats.jinja_branches import Condition, keep_branches, open_conditions
from eosctl.settings.formats.tree import Branch, Leaf, Node, Row
from eosctl.settings.platforms.ansible_inventory import ALL, Inventory, host_facts, inventory_of, parse_inventory
from eosctl.settings.programs.process_counts import COUNT
from eosctl.settings.values.sources import Source

_YAML: Final = (".yml", ".yaml")
_ROOTS: Final = ("roles", "group_vars", "host_vars", "templates")
_PLACES: Final = ("", "inventory", "inventories", "inventory/*", "inventories/*", "environments/*")
_MAX_FILES: Final = 200
_VARIABLE_ALONE: Final = re.compile(r"^[\w.-]+[ \t]*[=:][ \t]*\{\{-?[ \t]*([A-Za-z_]\w*)[ \t]*(?:\|[^{}]*)?\}\}[ \t]*$")
_EXPRESSION: Final = re.compile(r"\{[{%]((?:(?!\{[{%]|[%}]\}).)*)[%}]\}", re.DOTALL)
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_VARIABLES: Final = frozenset({"group_vars", "host_vars"})
_WITH_SETTINGS: Final = frozenset({"tasks", "pre_tasks", "post_tasks", "handlers", "vars", "environment"})
_Variables = dict[str, Node]


class Play(NamedTuple):
    """Which roles and templates a play brings to which hosts."""

    hosts: str
    roles: frozenset[str]
    templates: frozenset[str]
    variables: Mapping[str, Node]
    place: Place


class Variant(NamedTuple):
    """A template as it is written on some hosts.

    Attributes:
        text: What is written.
        processes: On how many hosts; None where no inventory shows that.
        host: The first of them; empty where all of them get the same.
        conditions: The conditions without an alternative that nothing decides there.
        places: The lines whose value is one variable, with the place of the variable.
    """

    text: str
    processes: Value | None
    host: str
    conditions: Mapping[str, Condition] = {}
    places: Mapping[int, Place] = {}


def variants_of(file: str, text: str, without: str = "") -> list[Variant]:
    """Return what a template becomes, once for each group of hosts on which it becomes the same; nothing for others.

    ``without`` is a condition that is assumed not to hold.
    """
    if not is_template(text) and not file.endswith(".j2"):
        return []
    path = Path(file)
    if not is_template(text) and (path.suffix != ".j2" or "templates" not in path.parts):
        return []
    if "templates" not in path.parts[:-1]:
        filled = _written(text, {}, without) if "{%" in text else text
        return [Variant(filled, None, "", open_conditions(text, {}))] if filled != text else []
    folder = next(parent for parent in path.parents if parent.name == "templates").parent
    if (folder / "Chart.yaml").is_file():
        return []  # of Helm
    root = folder.parent.parent if folder.parent.name == "roles" else folder
    defaults, own = _main(folder / "defaults"), _main(folder / "vars")
    plays = [play for play in _plays(root) if folder.name in play.roles or path.name in play.templates]
    found: dict[str, Variant] = {}
    for inventory, place in _inventories(root):
        for play in plays or _play_by_name(folder.name, inventory, place) or _play_by_hosts(text, inventory, place):
            hosts: dict[str, list[str]] = {}
            conditions: dict[str, Mapping[str, Condition]] = {}
            places: dict[str, Mapping[int, Place]] = {}
            for host in inventory.hosts_of(play.hosts):
                variables = {**defaults, **_of_host(inventory, place, root, host), **play.variables, **own}
                known = {**host_facts(host), **variables}
                written = _written(text, known, without)
                hosts.setdefault(written, []).append(host)
                conditions.setdefault(written, open_conditions(text, known))
                places.setdefault(written, dict(_of_variables(text, known)))
            for written, names in hosts.items():
                count = Value(COUNT, str(len(names)), f"hosts: {play.hosts}", play.place)
                before = found.get(written)
                if before is None or before.processes is None or (before.processes.number or 0) < len(names):
                    host = names[0] if len(hosts) > 1 else ""
                    found[written] = Variant(written, count, host, conditions[written], places[written])
    if found:
        return list(found.values())
    known = {**defaults, **own}
    filled = _written(text, known, without)
    at_variables = dict(_of_variables(text, known))
    return [Variant(filled, None, "", open_conditions(text, known), at_variables)] if filled != text else []


def _play_by_name(role: str, inventory: Inventory, place: Path) -> list[Play]:
    """Return a play of a role that no playbook here brings to hosts: on the group that is called like it."""
    names = (name for name in (role, role.replace("-", "_"), f"{role}s") if inventory.hosts_of(name))
    group = next(names, None)
    return [] if group is None else [Play(group, frozenset({role}), frozenset(), {}, Place(str(place), 1))]


def names_in_expressions(template: str) -> frozenset[str]:
    """Return the words in a template's expressions and statements, the names of variables among them."""
    return frozenset(word for found in _EXPRESSION.findall(template) for word in _WORD.findall(found))


def _play_by_hosts(template: str, inventory: Inventory, place: Path) -> list[Play]:
    """Return a play of a template that no playbook here writes: on the only group whose hosts have variables in it."""
    names = names_in_expressions(template)
    shown = {host: given for host, given in inventory.host_variables.items() if not names.isdisjoint(given)}
    own, leaves = {*shown}, (leaf for given in shown.values() for leaf in given.values() if isinstance(leaf, Leaf))
    where = next((Place(leaf.file, leaf.line) for leaf in leaves if leaf.file), Place(str(place), 1))
    group = next((one for one in inventory.groups if own and one != ALL and own == {*inventory.groups[one]}), None)
    return [] if group is None else [Play(group, frozenset(), frozenset(), {}, where)]


def _written(text: str, variables: Mapping[str, Node], without: str) -> str:
    return fill(keep_branches(text, variables, without), variables)


def hosts_around(file: str, document: Node) -> Iterator[tuple[int, int, Value]]:
    """Yield the lines of each play of a playbook with the number of its hosts, where an inventory shows that."""
    if not isinstance(document, Row) or not file.lower().endswith(_YAML):
        return
    members = [node for node in document.nodes if isinstance(node, Branch) and node.text("hosts")]
    if not members:
        return
    inventories = list(_inventories(project_of(Path(file))))
    starts = [node.line for node in document.nodes]
    for node in members:
        pattern = node.text("hosts") or ""
        counts = [len(inventory.hosts_of(pattern)) for inventory, _ in inventories]
        most = max(counts, default=0)
        if most:
            last = next((start - 1 for start in starts if start > node.line), 1 << 30)
            yield node.line, last, Value(COUNT, str(most), f"hosts: {pattern}", Place(file, node.line))


def brings_roles_alone(document: Node) -> bool:
    """Return whether a document is a playbook without tasks and variables: the settings are in its roles."""
    plays = document.nodes if isinstance(document, Row) else ()
    names = [{key for key, _ in play.entries} for play in plays if isinstance(play, Branch) and play.text("hosts")]
    return 0 < len(plays) == len(names) and all(_WITH_SETTINGS.isdisjoint(keys) for keys in names)


def is_variables_file(file: str) -> bool:
    """Return whether a file holds variables of groups, hosts, or roles, by the folder that it is in."""
    folders = file.split("/")[:-1]
    return not _VARIABLES.isdisjoint(folders) or ("roles" in folders and folders[-1] in ("defaults", "vars"))


def hosts_of_group(file: str) -> Value | None:
    """Return how many hosts have the variables of a file in ``group_vars``; None for other files."""
    if "group_vars" not in file:
        return None
    path = Path(file)
    if "group_vars" not in path.parts[:-1]:
        return None
    folder = next(parent for parent in path.parents if parent.name == "group_vars")
    group = path.stem if path.parent == folder else path.relative_to(folder).parts[0]
    counts = [len(inventory.hosts_of(group)) for inventory, _ in _inventories(project_of(path))]
    most = max(counts, default=0)
    return Value(COUNT, str(most), f"hosts: {group}", Place(file, 1)) if most else None


def project_of(path: Path) -> Path:
    """Return the folder of a project, from a file in it."""
    roles = next((parent.parent for parent in reversed(path.parents) if parent.name == "roles"), None)
    folder = roles or next((parent.parent for parent in path.parents if parent.name in _ROOTS), path.parent)
    while folder.name in ("inventory", "inventories", "environments", "playbooks") or folder.parent.name in (
        "inventory",
        "inventories",
        "environments",
    ):
        folder = folder.parent
    return folder


def _plays(root: Path) -> Iterator[Play]:
    for path in sorted((*root.glob("*.y*ml"), *root.glob("playbooks/*.y*ml")))[:_MAX_FILES]:
        for document in _documents(path):
            for node in document.nodes if isinstance(document, Row) else ():
                if isinstance(node, Branch) and (hosts := node.text("hosts")):
                    variables = node.branch("vars")
                    yield Play(
                        hosts,
                        frozenset(_roles(node)),
                        frozenset(_sources(node)),
                        dict(variables.entries) if variables else {},
                        Place(str(path), node.line),
                    )


def _roles(play: Branch) -> Iterator[str]:
    for node in play.items("roles"):
        name = (
            node.text
            if isinstance(node, Leaf)
            else node.text("role") or node.text("name")
            if isinstance(node, Branch)
            else None
        )
        if name:
            yield name.rpartition(".")[2]
    for task in play.items("tasks"):
        for key, node in task.entries if isinstance(task, Branch) else ():
            if key.rpartition(".")[2] in ("include_role", "import_role") and isinstance(node, Branch):
                yield (node.text("name") or "").rpartition(".")[2]


def _sources(play: Branch) -> Iterator[str]:
    for section in ("tasks", "pre_tasks", "post_tasks"):
        for task in play.items(section):
            for key, node in task.entries if isinstance(task, Branch) else ():
                if key.rpartition(".")[2] == "template" and isinstance(node, Branch):
                    yield (node.text("src") or "").rpartition("/")[2]


def _inventories(root: Path) -> Iterator[tuple[Inventory, Path]]:
    """Yield the inventory of each environment, with its folder."""
    folders = [folder for place in _PLACES for folder in ([root] if not place else root.glob(place)) if folder.is_dir()]
    for folder in sorted(set(folders)):
        for path in sorted(folder.iterdir())[:_MAX_FILES]:
            if path.is_file() and (found := _inventory(path)) is not None:
                yield found, folder


def _inventory(path: Path) -> Inventory | None:
    if path.suffix in _YAML:
        documents = _documents(path)
        return _placed(inventory_of(documents[0]), path) if len(documents) == 1 else None
    if path.suffix not in ("", ".ini") or path.name.startswith("."):
        return None
    try:
        text = read_text(path)
    except ConfigFileError:
        return None
    return _placed(parse_inventory(text, str(path)), path) if "[" in text else None


def _placed(inventory: Inventory | None, path: Path) -> Inventory | None:
    """Return an inventory with the file at its variables."""
    if inventory is not None:
        for own in (*inventory.group_variables.values(), *inventory.host_variables.values()):
            own |= _in_file(own, path)
    return inventory


def _in_file(variables: Mapping[str, Node], path: Path) -> _Variables:
    return {key: replace(node, file=str(path)) if isinstance(node, Leaf) else node for key, node in variables.items()}


def _of_host(inventory: Inventory, place: Path, root: Path, host: str) -> _Variables:
    groups = inventory.groups_of(host)
    found: _Variables = {}
    for group in groups:
        found |= inventory.group_variables.get(group, {})
    for folder in dict.fromkeys((place, root)):
        for group in groups:
            found |= _variables(folder / "group_vars" / group)
    found |= inventory.host_variables.get(host, {})
    for folder in dict.fromkeys((place, root)):
        found |= _variables(folder / "host_vars" / host)
    return found


def _of_variables(template: str, known: Mapping[str, Node]) -> Iterator[tuple[int, Place]]:
    """Yield the lines of a template with nothing but a variable as their value."""
    for number, line in enumerate(template.splitlines(), 1):
        match = _VARIABLE_ALONE.match(line)
        node = known.get(match[1]) if match is not None else None
        if isinstance(node, Leaf) and node.file:
            yield number, Place(node.file, node.line)


def _variables(name: Path) -> _Variables:
    """Return the variables of a group or a host."""
    return _entries(_files_named(name))


def _files_named(name: Path) -> list[Path]:
    """Return the files with the variables of a group or a host: one file, or all files of a folder."""
    paths = [name.with_name(name.name + ending) for ending in ("", *_YAML)]
    return [path for path in paths if path.is_file()] + (sorted(name.glob("*.y*ml")) if name.is_dir() else [])


def _main(folder: Path) -> _Variables:
    """Return the variables of a role: of its file ``main``, or of all files of a folder of this name."""
    files = [path for ending in _YAML if (path := folder / f"main{ending}").is_file()]
    return _entries([*files, *sorted((folder / "main").glob("*.y*ml"))])


def _entries(files: list[Path]) -> _Variables:
    found: _Variables = {}
    for path in files:
        for document in _documents(path):
            found |= _in_file(dict(document.entries), path) if isinstance(document, Branch) else {}
    return found


def _documents(path: Path) -> tuple[Node, ...]:
    return _parsed(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=256)
def _parsed(path: Path, changed_ns: int) -> tuple[Node, ...]:
    """Return the documents of a file, which many templates of a project share."""
    del changed_ns  # a file that was written again is another one
    name = str(path) if path.suffix in _YAML else f"{path}.yml"
    try:
        return parse_documents(name, read_text(path))
    except ConfigFileError:
        return ()  # reported where the file itself is read


def counted_by_hosts(sources: list[Source], documents: Iterable[Node], file: str) -> list[Source]:
    """Return the sources of plays and of groups of hosts with the number of the hosts."""
    plays = [play for document in documents for play in hosts_around(file, document)]
    group = hosts_of_group(file)
    if not plays and group is None:
        return sources

    def count(source: Source) -> Value | None:
        return next((n for first, last, n in plays if first <= source.place.line <= last), group)

    return [
        source
        if source.instances is not None or source.role in (Role.TOPIC, Role.BROKER)
        else replace(source, instances=count(source))
        for source in sources
    ]
