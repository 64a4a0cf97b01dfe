"""Lay the variables of a container over the application's own files, as frameworks do.

A variable is the path of a setting in the file: ``Kafka__Producer__Acks`` of .NET, ``KAFKA_PRODUCERS_OUT_ACKS`` of
Micronaut and MicroProfile, ``APP_KAFKA_PRODUCER_ACKS`` with a prefix of Viper, Dynaconf, or pydantic. node-config names
the variable of each path in ``custom-environment-variables``. ``spring_environments`` reads Spring's names.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Client, Value, table_name
from eosctl.model.parameter import relaxed
from eosctl.settings.formats.node_config import names_variables
from eosctl.settings.formats.tree import Leaf
from eosctl.settings.names.setting_names import is_setting
from eosctl.settings.names.spellings import respelled, setting_of_letters
from eosctl.settings.platforms.application_files import project_of
from eosctl.settings.platforms.referred_values import ConfigMaps
from eosctl.settings.platforms.workload import Workload, merged
from eosctl.settings.programs.environment import CLIENT_ROLES
from eosctl.settings.values.sources import Source, value_of

_VARIABLE: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:_+[A-Za-z0-9]+)+")
_REFERENCE: Final = re.compile(r"\$\{(\w+)\}")
_OF_ENVIRONMENTS: Final = frozenset({"default", "production", "development", "global", "app", "application", "config"})
"""Sections of files that no variable names: those of environments, and of the application as a whole."""
_OF_VARIABLES: Final = (".env", ".service")
_BUILT: Final = ("Dockerfile", "Containerfile")
_BROKERS: Final = "bootstrap.servers"
"""Which cluster an environment has decides nothing about exactly-once, and all environments differ in it."""


class _Environment(NamedTuple):
    """The variables of one workload, the files and resources that are its own, and the number of its processes."""

    name: str
    variables: Mapping[str, Value]
    projects: frozenset[str]
    reads: frozenset[str] = frozenset()
    processes: Value | None = None


class _Setting(NamedTuple):
    """A setting of a client in a file: its name, the sections around it, and the rest of its path there."""

    client: int
    name: str
    sections: tuple[str, ...]
    own: str


def over_files(sources: Sequence[Source], workloads: Sequence[Workload], maps: Iterable[ConfigMaps]) -> list[Source]:
    """Return the sources, clients in applications' own files with the variables of the workloads that run them.

    A client that workloads of several environments run stands once for each of them. Variables that became a client's
    do not stand for a client of their own.
    """
    files = [one for one in sources if _is_of_file(one)]
    environments = list(_environments(sources, workloads, maps)) if files else []
    by_project: dict[str, list[Source]] = defaultdict(list)
    for one in files:
        by_project[one.held_by or project_of(one.place.file)].append(one)
    changed: dict[int, list[Source]] = defaultdict(list)
    counts: dict[int, set[str]] = defaultdict(set)
    used = set[tuple[str, str, str | None]]()
    indices: dict[frozenset[str], _Index] = {}  # many workloads stand in one project
    for environment in environments:
        places = frozenset(name for name in environment.projects | environment.reads if name in by_project)
        if places not in indices:
            indices[places] = _index([one for name in sorted(places) for one in by_project[name]])
        for client, values in _assigned(indices[places], environment.variables).items():
            source = indices[places].clients[client]
            used |= {(environment.name, value.key, value.text) for value in values.values()}
            laid = {name: _in_words_of(source, name, value) for name, value in values.items()}
            counts[id(source)].add(_described_at(environment.processes))
            made = replace(
                source, values={**source.values, **laid}, instances=source.instances or environment.processes
            )
            if made not in changed[id(source)]:
                changed[id(source)].append(made)
    if not changed:
        return list(sources)
    found: list[Source] = []
    for one in sources:
        is_run_by_others = one.instances is not None and _described_at(one.instances) not in counts[id(one)]
        left = [one] if id(one) not in changed or is_run_by_others else []
        found += (*left, *changed.get(id(one), ()))
    return [rest for one in found if (rest := _without_used(one, used)) is not None]


def _described_at(count: Value | None) -> str:
    """Return where a number of processes stands: the folder of a chart, which has it in values and in templates."""
    file = count.file if count is not None else ""
    if posixpath.basename(file).startswith("values"):
        return posixpath.dirname(file)
    chart, _, template = file.rpartition("/templates/")
    return chart if template and chart else str(count.place) if count is not None else ""


def _is_of_file(source: Source) -> bool:
    """Return whether a client stands in an application's own file, and not among the variables of a workload."""
    is_own = source.role in CLIENT_ROLES and not source.part_of and not source.place.file.endswith(_OF_VARIABLES)
    return is_own and not _is_of_variables(source)


def _is_of_variables(source: Source) -> bool:
    keys = [value.key for value in source.values.values()]
    return all(_VARIABLE.fullmatch(key) is not None and (key.isupper() or "__" in key) for key in keys)


def _environments(
    sources: Iterable[Source], workloads: Sequence[Workload], maps: Iterable[ConfigMaps]
) -> Iterator[_Environment]:
    """Yield the environments of workloads, then those of charts' values and other platforms, by their variables."""
    held: dict[str, dict[str, Value]] = defaultdict(dict)
    for values in maps:
        for (name, key), value in values.items():
            held[f"ConfigMap {name}"][key] = value
    counts = merged(workloads)
    for workload in workloads:
        shared = {key: value for name in workload.reads for key, value in held.get(name, {}).items()}
        variables = {**shared, **workload.environment}
        built = frozenset(project_of(f"{posixpath.dirname(one)}/x") for one in workload.reads if one.endswith(_BUILT))
        places = {project_of(value.file) for value in workload.environment.values() or shared.values()}
        if variables:
            count = counts[workload.name].processes
            yield _Environment(workload.name, variables, built or frozenset(places), workload.reads, count)
    for one in sources:
        is_other = one.role in CLIENT_ROLES and one.part_of not in counts and not one.held_by
        if is_other and _is_of_variables(one) and not one.place.file.endswith(_OF_VARIABLES):
            variables = {value.key: value for value in one.values.values()}
            project = frozenset({project_of(one.place.file)})
            yield _Environment(one.part_of, variables, project, processes=one.instances)


def _assigned(index: _Index, variables: Mapping[str, Value]) -> dict[int, dict[str, Value]]:
    """Return the values that variables give settings of clients, by the number of the client and their name.

    A variable with the whole path goes before one with a prefix; of several with prefixes none counts.
    """
    found: dict[tuple[int, str], list[tuple[bool, Value]]] = defaultdict(list)
    for variable, value in variables.items() if index.paths else ():
        if (named := index.named.get(variable)) is not None:
            hits = [(True, own) for one in named for own in (*index.at(one), *index.lacking(one))]
        else:
            hits = _hits(variable, index)
        for is_exact, one in hits:
            found[one.client, one.name].append((is_exact, value))
    result: dict[int, dict[str, Value]] = defaultdict(dict)
    for (client, name), values in found.items():
        exact = [value for is_exact, value in values if is_exact]
        chosen = exact[-1] if exact else values[0][1] if len(values) == 1 else None
        if chosen is not None and name != _BROKERS:
            result[client][name] = chosen
    return result


def _hits(variable: str, index: _Index) -> list[tuple[bool, _Setting]]:
    """Return the settings that a variable gives, each with whether it is the whole path; none where several may be."""
    words = variable.split("_") if _VARIABLE.fullmatch(variable) else []
    letters = [relaxed("".join(words[at:])) for at in range(len(words))]
    own = [(True, one) for one in index.paths.get(letters[0], ())] if words else []
    own = own or next(([(False, one) for one in index.ends[word]] for word in letters if word in index.ends), [])
    own = own or [(False, one) for one in _new(words, letters, index)]
    return own if len({(relaxed("".join(one.sections)), one.own) for _, one in own}) == 1 else []


def _new(words: Sequence[str], letters: Sequence[str], index: _Index) -> list[_Setting]:
    """Return the settings that clients lack in the file, and that a variable has behind the path of their section."""
    for own in range(1, len(words)):
        name = setting_of_letters(letters[own])
        heads = (relaxed("".join(words[at:own])) for at in range(own)) if name is not None else iter(())
        head = next((one for one in heads if one in index.sections), None)
        if name is not None and head is not None:
            return index.lacking(_Setting(-1, name, (head,), letters[own]))
    return []


class _Index(NamedTuple):
    """Settings by the letters of their paths' ends, by those that may follow a prefix, and by their sections.

    ``named`` are those of the variables that ``custom-environment-variables`` names. A section has its path in each
    client that has it. ``known`` are the settings that each client may have.
    """

    paths: Mapping[str, Sequence[_Setting]]
    ends: Mapping[str, Sequence[_Setting]]
    sections: Mapping[str, Mapping[int, tuple[str, ...]]]
    named: Mapping[str, Sequence[_Setting]]
    clients: Sequence[Source]
    known: Sequence[Mapping[str, object]]

    def at(self, one: _Setting) -> list[_Setting]:
        """Return the settings of all clients with a path."""
        whole = relaxed("".join((*one.sections, one.own)))
        return [other for other in self.paths[whole] if relaxed("".join((*other.sections, other.own))) == whole]

    def lacking(self, one: _Setting) -> list[_Setting]:
        """Return a setting for each client that has the section of it, may have the setting, and does not."""
        return [
            one._replace(client=number, sections=sections)
            for number, sections in self.sections.get(relaxed("".join(one.sections)), {}).items()
            if one.name in self.known[number] and one.name not in self.clients[number].values
        ]


def _known_to(client: Source) -> Mapping[str, object]:
    tables, role = load_tables(), client.role or CLIENT_ROLES[0]
    table = tables.get(table_name(role, client.client or Client.JAVA)) or tables[role.value]
    return table.parameters


def _settings_of(source: Source, number: int) -> Iterator[_Setting]:
    around = source.hints[2:]  # after the file, and its kind
    for name, value in source.values.items():
        parts = (*around, *value.key.split("."))
        whole = relaxed(name)
        own = next((at for at in range(len(parts)) if relaxed("".join(parts[at:])) == whole), len(parts) - 1)
        if own > 0:
            yield _Setting(number, name, parts[:own], "".join(parts[own:]))


def _index(clients: Sequence[Source]) -> _Index:
    settings = [one for number, client in enumerate(clients) for one in _settings_of(client, number)]
    paths, ends, named = (defaultdict[str, list[_Setting]](list) for _ in range(3))
    sections: dict[str, dict[int, tuple[str, ...]]] = defaultdict(dict)
    for one in settings:
        for at in range(len(one.sections)):
            letters = relaxed("".join(one.sections[at:]))
            paths[letters + relaxed(one.own)].append(one)
            if _OF_ENVIRONMENTS.issuperset(word.lower() for word in one.sections[:at]):
                ends[letters + relaxed(one.own)].append(one)
                sections[letters][one.client] = one.sections
        value = clients[one.client].values[one.name]
        if names_variables(value.file) and (match := _REFERENCE.fullmatch(value.text or "")) is not None:
            named[match[1]].append(one)
    return _Index(paths, ends, sections, named, clients, tuple(map(_known_to, clients)))


def _in_words_of(source: Source, name: str, value: Value) -> Value:
    """Return a variable's value under a setting's name, in Kafka's words for those of the client's library."""
    key = source.values[name].key if name in source.values else name
    leaf = Leaf(value.text, value.place.line if value.place else 1)
    given = [(key, leaf), *((one.key, Leaf(one.text, 1)) for one in source.values.values() if one.key != key)]
    spelled = respelled(given, source.place.file, source.hints)[0][2]
    return value_of(value.key, replace(spelled, written=""), value.file, name)


def _without_used(source: Source, used: set[tuple[str, str, str | None]]) -> Source | None:
    """Return variables without those that a client in a file has; None where no setting is left."""
    if source.role not in CLIENT_ROLES or not _is_of_variables(source):
        return source
    left = {name: one for name, one in source.values.items() if (source.part_of, one.key, one.text) not in used}
    if len(left) == len(source.values):
        return source
    return replace(source, values=left) if any(map(is_setting, left)) else None
