"""Read configuration files and folders into a deployment; a file that cannot be read does not stop the others."""

from __future__ import annotations

import fnmatch
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.errors import ConfigFileError
from eosctl.findings.linted import Unreadable
from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Component, Deployment, Place, Role, Value, Variation
from eosctl.model.redaction import redact_text
from eosctl.model.unjudged import Unseen
from eosctl.settings.deployment.detection import sources_of
from eosctl.settings.deployment.plain_resources import has_no_place, has_no_setting
from eosctl.settings.deployment.whole_documents import documents_of
from eosctl.settings.files.chart_releases import Given, charts_given
from eosctl.settings.files.documents import format_of, is_piece_of_json, starts_programs
from eosctl.settings.files.environments import of_environment, over_base, with_environments, with_profiles
from eosctl.settings.files.file_texts import files_of, holds_kafka, is_of_others, is_template, mentions_kafka, read_text
from eosctl.settings.files.files_read import MARK, FilesRead
from eosctl.settings.files.hocon_includes import included_by_others
from eosctl.settings.files.includes import includes_missing
from eosctl.settings.files.left_out import left_out
from eosctl.settings.files.template_files import filled_by_terraform
from eosctl.settings.files.templates import (
    Filling,
    at_variables,
    fillings_of,
    fills_templates,
    places_of_values,
    without_templates,
)
from eosctl.settings.formats.jinja_branches import Condition
from eosctl.settings.formats.properties_file import cut_line
from eosctl.settings.formats.tree import Node
from eosctl.settings.frameworks.resolution import UNKNOWN, resolve
from eosctl.settings.platforms.ansible import Variant, counted_by_hosts, variants_of
from eosctl.settings.platforms.ansible_parts import serves_templates
from eosctl.settings.platforms.application_files import with_processes
from eosctl.settings.platforms.broker_overrides import with_overridden
from eosctl.settings.platforms.compose_bases import bases_elsewhere
from eosctl.settings.platforms.kustomizations import Builds, Resource, build
from eosctl.settings.platforms.mounted_secrets import with_secrets
from eosctl.settings.platforms.referred_values import (
    config_map_values,
    with_config_maps,
    without_referred,
    without_variables_of_templates,
)
from eosctl.settings.platforms.shared_environments import with_shared_environments
from eosctl.settings.platforms.spring_environments import with_spring_environments
from eosctl.settings.platforms.terraform_variables import environments_of
from eosctl.settings.platforms.variables_over_files import over_files
from eosctl.settings.platforms.workload import Workload
from eosctl.settings.platforms.workloads import generated_by, unseen_by, with_instances, workloads_of
from eosctl.settings.programs.unread_lines import lines_not_read, names_setting
from eosctl.settings.releases.managed_clusters import configured_clusters, with_brokers_counted
from eosctl.settings.releases.manifests import Libraries
from eosctl.settings.releases.named_releases import release_in, release_in_text, with_releases_of_projects
from eosctl.settings.values.sources import Releases, Source

_VARIATIONS: Final = 12
"""Undecided conditions that are judged; each costs as much as the deployment."""
_LINES: Final = frozenset({"properties", "conf", "ini"})
"""Formats of lines: the others refuse a file that is cut."""


class _File(NamedTuple):
    """What stands in one file: its settings, the workloads that it describes, and the ConfigMaps that files become.

    ``has_no_place`` is true for what has no place for a setting: a Service, an inventory, a playbook of roles.
    ``bases`` are services of other files that this one extends, and nothing starts.
    ``conditions`` are those of a template that nothing decides; ``releases`` are those of brokers, each with its file,
    and ``clusters`` the numbers of brokers of clusters of MSK.
    """

    sources: list[Source]
    workloads: list[Workload]
    generated: dict[str, str]
    has_no_place: bool = False
    conditions: Mapping[str, Condition] = {}
    config_maps: Mapping[tuple[str, str], Value] = {}
    releases: Sequence[tuple[str, str]] = ()
    bases: frozenset[str] = frozenset()
    clusters: Sequence[tuple[str, Value]] = ()


_NOTHING: Final = _File([], [], {})
_IN_AN_OVERLAY: Final = _File([], [], {}, has_no_place=True)  # as kustomizations build it, or a part of another file


def read_deployment(
    paths: Sequence[Path],
    *,
    roles: Mapping[str, Role] | None = None,
    releases: Releases = UNKNOWN,
    texts: Mapping[str, str] | None = None,
    shown: Sequence[tuple[str, str]] = (),
) -> FilesRead:
    """Read files, and the files of folders in supported formats.

    Args:
        paths: Files and folders.
        roles: The roles of certain files, by path or pattern; the others are detected.
        releases: The releases whose defaults apply; if not given, the release that a file names.
        texts: Replacements for the texts of files, by file.
        shown: Releases of brokers that other files show, each behind its file.
    """
    found: list[_File] = []
    read: list[str] = []
    without: list[str] = []
    not_understood: list[str] = []
    unreadable: list[Unreadable] = []
    unlike: list[tuple[int, Condition, _File]] = []
    releases_shown = list(shown)
    included, marked = list[Unseen](), list[str]()
    files, libraries = list(files_of(paths)), Libraries(paths)
    names = frozenset(posixpath.normpath(str(path)) for path in files)
    builds, charts = _built(files, texts or {}), charts_given(files, texts or {})
    in_overlays, named = builds.files | builds.patches | builds.replaced, frozenset(paths)
    parts = included_by_others(files, texts or {}) | filled_by_terraform(files, texts or {})
    in_overlays |= parts - {posixpath.normpath(str(path)) for path in named}
    for path in files:
        file = str(path)
        try:
            text = texts[file] if texts and file in texts else read_text(path)
            if path in named and not text.strip():
                raise ConfigFileError(f"{file} is empty.", "It has no settings to judge.", "Name another file.")
            role = _role_for(file, roles or {})
            if role is None and in_overlays and posixpath.normpath(file) in in_overlays:
                one = _IN_AN_OVERLAY
            elif role is None and is_of_others(file, text):
                one = _NOTHING
            else:
                one = _read_any(file, text, role, charts, is_named=path in named)
        except ConfigFileError as error:
            if path in named or holds_kafka(path):
                unreadable.append(Unreadable(redact_text(file), error))
            continue
        unlike += [
            (len(found), condition, _read_any(file, text, role, charts, is_named=False, without=condition.text))
            for condition in list(one.conditions.values())[: _VARIATIONS - len(unlike)]
        ]
        is_about = bool(one.sources) or mentions_kafka(file, text)
        releases_shown += [(file, release)] if (release := release_in_text(file, text)) else []
        included += includes_missing(file, text, names) if is_about else ()
        read.append(file)
        marked += [file] if MARK in text else []
        found.append(one._replace(sources=libraries.given_to(one.sources, path)) if one.sources else one)
        unread = lines_not_read(text, _values(one)) if starts_programs(file) and one is not _NOTHING else ()
        if not one.sources and one is not _IN_AN_OVERLAY and not any(workload.overrides for workload in one.workloads):
            without.append(file)
            is_named = not starts_programs(file) or (names_setting(text) and not unread)
            not_understood += [file] if is_about and is_named and not (one.workloads or one.has_no_place) else ()
        not_understood += [f"{file}:{line}" for line in (*unread, *_cut(file, text, one))]
    overlays = [_of_overlay(*one) for one in builds.overlays.items()]
    everything = [*found, *overlays, _NOTHING._replace(releases=releases_shown)]
    variations = tuple(
        Variation(
            condition.text,
            Place(read[number], condition.line),
            tuple(_components([*everything[:number], other, *everything[number + 1 :]], releases)),
        )
        for number, condition, other in unlike
    )
    deployment = Deployment(tuple(_components(everything, releases)), load_tables(), variations)
    given = (value for one in deployment.components for value in (*one.given.values(), one.instances))
    used = {value.place.file for value in given if value is not None and value.place is not None}
    not_understood = [
        file
        for file in not_understood
        if file not in used and not fills_templates(file, used) and not serves_templates(file, used)
    ]
    files_wanted = [workload for one in everything for workload in one.workloads if workload.kafka_files]
    unseen = unseen_by(files_wanted, _related(everything)) if files_wanted else ()
    return FilesRead(
        deployment,
        tuple(read),
        tuple(file for file in without if file not in used),
        tuple(unreadable),
        not_understood=(*not_understood, *left_out(paths, read)),
        unseen=(*unseen, *included, *builds.missing_for(used)),
        marked=tuple(marked),
    )


def _cut(file: str, text: str, one: _File) -> tuple[int, ...]:
    """Return the number of the last line of a file with settings that ends within it."""
    found = format_of(file) if one.sources else None
    line = cut_line(text) if found is not None and found.name in _LINES else None
    return () if line is None else (line,)


def _values(one: _File) -> Iterator[Value]:
    for source in one.sources:
        yield from source.values.values()
    for workload in one.workloads:
        yield from workload.overrides.values()


def _built(files: Sequence[Path], texts: Mapping[str, str]) -> Builds:
    paths = {posixpath.normpath(str(path)): path for path in files}

    def documents(file: str) -> tuple[Node, ...]:
        path = paths[file]
        try:
            return documents_of(str(path), texts[str(path)] if str(path) in texts else read_text(path))
        except ConfigFileError:
            return ()  # reported where the file itself is read

    return build(paths, documents)


def _of_overlay(overlay: str, resources: Iterable[Resource]) -> _File:
    """Return what the resources of a kustomization configure, each with the number of its processes there.

    Brokers without a cluster of their own are those of one cluster, and not of the one that another overlay makes.
    """
    read = [(one, _of_documents([one.document], one.file)) for one in resources]
    workloads = [workload for _, part in read for workload in part.workloads]
    sources = with_instances((source for _, part in read for source in part.sources), workloads)
    sources = with_config_maps(sources, (part.config_maps for _, part in read))
    return _File([replace(one, described_by=one.described_by or overlay) for one in sources], workloads, {})


def _read_any(
    file: str,
    text: str,
    role: Role | None,
    charts: Mapping[str, tuple[Given, ...]],
    *,
    is_named: bool,
    without: str = "",
) -> _File:
    """Read a file; one that does not follow its format is an error unless it is a template.

    In a folder, and for programs, it is an error only where it is about Kafka. ``without`` is a condition of a template
    that is assumed not to hold.
    """
    try:
        variants = variants_of(file, text, without)
        if variants:
            return _of_variants([(one, _read(file, one.text, role)) for one in variants])
        fillings = fillings_of(file, text, charts) if is_template(text) else []
        is_of_chart = any(one.values for one in fillings)
        return _of_chart(file, text, fillings, role) if is_of_chart else _read(file, text, role)
    except ConfigFileError:
        if is_named and format_of(file) is None:
            raise
        is_settings = is_named and not starts_programs(file)
        is_about = is_settings or (mentions_kafka(file, text) and not is_piece_of_json(file, text))
        if is_about and not is_template(text):
            raise
    try:
        return _of_chart(file, text, fillings_of(file, text, charts), role) if is_template(text) else _NOTHING
    except ConfigFileError:
        return _NOTHING


def _of_chart(file: str, text: str, fillings: Sequence[Filling], role: Role | None) -> _File:
    """Return what a template configures with the values of its chart, each at its line in the file of values.

    Each environment has a number of processes of its own, unless a scaler in another template decides it.
    """
    parts = list[_File]()
    is_counted = len(fillings) > 1 and "autoscaling" not in text.lower()
    for values, environment in fillings:
        read, places = _read(file, without_templates(text, values), role), places_of_values(text, values)
        found = [replace(one, values=at_variables(one.values, places)) for one in read.sources]
        found = with_instances(found, read.workloads) if is_counted else found
        parts.append(read._replace(sources=[of_environment(one, environment) if environment else one for one in found]))
    return _joined(parts)


def _joined(parts: Sequence[_File]) -> _File:
    sources = [one for part in parts for one in part.sources]
    return parts[0]._replace(sources=sources, workloads=[one for part in parts for one in part.workloads])


def _of_variants(variants: list[tuple[Variant, _File]]) -> _File:
    """Return what a template of Ansible configures on all hosts that it is written on."""
    sources = [
        replace(
            source,
            values=at_variables(source.values, one.places),
            instances=one.processes,
            label=" ".join(filter(None, (source.label, one.host))),
        )
        if source.role is not Role.TOPIC
        else source
        for one, read in variants
        for source in read.sources
    ]
    conditions = {text: condition for one, _ in variants for text, condition in one.conditions.items()}
    return _File(
        sources, [], {}, all(one.has_no_place for _, one in variants), conditions=conditions if sources else {}
    )


def read_components(file: str, text: str, role: Role | None = None, releases: Releases = UNKNOWN) -> list[Component]:
    """Return the components that a file's text configures.

    Raises:
        ConfigFileError: The text does not follow its format.
    """
    return _components([_read(file, text, role)], releases)


def read_texts(texts: Mapping[str, str], releases: Releases = UNKNOWN) -> list[Component]:
    """Return the components that several files' texts configure together, by the name of each file.

    Raises:
        ConfigFileError: A text does not follow its format.
    """
    return _components([_read(file, text, None) for file, text in texts.items()], releases)


def _read(file: str, text: str, role: Role | None) -> _File:
    base, documents = over_base(documents_of(file, text), file)
    try:
        read = _of_documents(documents, base, role)
    except RecursionError as error:
        raise ConfigFileError(f"{file}: files within files are nested too deeply.", "", "Correct the file.") from error
    if not read.sources and has_no_setting(documents, file, text):
        return read._replace(has_no_place=True)
    if role is None and (environments := environments_of(file, text)):
        others = ((one, _of_documents(documents_of(file, text, one), file).sources) for one in environments)
        return read._replace(sources=with_environments(read.sources, others))
    return read if base == file else read._replace(sources=[of_environment(one, file) for one in read.sources])


def _of_documents(documents: Sequence[Node], file: str, role: Role | None = None) -> _File:
    sources = [source for document in documents for source in sources_of(document, file, role)]
    workloads = [workload for document in documents for workload in workloads_of(document, file)]
    generated = {name: held for document in documents for name, held in generated_by(document, file).items()}
    is_plain = bool(documents) and all(has_no_place(document, file) for document in documents)
    sources = counted_by_hosts(with_profiles(sources), list(documents), file)
    maps = {key: value for document in documents for key, value in config_map_values(document, file).items()}
    named = [(file, release) for document in documents if (release := release_in(document))]
    bases = frozenset[str]().union(*(bases_elsewhere(document, file) for document in documents))
    clusters = [one for document in documents for one in configured_clusters(document, file)]
    return _File(
        sources, workloads, generated, is_plain, config_maps=maps, releases=named, bases=bases, clusters=clusters
    )


def _components(files: Iterable[_File], releases: Releases) -> list[Component]:
    """Relate the files to each other, and resolve what they configure."""
    given = list(files)
    sources = with_config_maps(_related(given), (maps := [one.config_maps for one in given]))
    workloads = [workload for file in given for workload in file.workloads]
    sources = without_variables_of_templates(without_referred(with_shared_environments(sources, workloads)))
    sources = with_spring_environments(sources, workloads)
    started = over_files(with_processes(sources, workloads), workloads, maps)
    started = with_secrets(with_overridden(started, workloads), workloads)
    started = with_brokers_counted(started, (one for file in given for one in file.clusters))
    started = with_releases_of_projects(started, (named for file in given for named in file.releases))
    return [component for source in started for component in resolve(source, releases)]


def _related(given: Sequence[_File]) -> list[Source]:
    """Return the sources of all files, each with the ConfigMap that its file becomes."""
    generated = {name: held for file in given for name, held in file.generated.items()}
    bases = frozenset[str]().union(*(file.bases for file in given))
    return [
        replace(source, held_by=held)
        if generated and not source.held_by and (held := generated.get(posixpath.normpath(source.place.file)))
        else source
        for file in given
        for source in file.sources
        if not bases or source.part_of not in bases
    ]


def _role_for(file: str, roles: Mapping[str, Role]) -> Role | None:
    name = file.rpartition("/")[2]
    return next(
        (role for pattern, role in roles.items() if pattern in (file, name) or fnmatch.fnmatch(file, pattern)), None
    )
