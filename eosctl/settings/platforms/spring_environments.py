"""Spring applications whose settings stand in several places: variables, ConfigMaps, and files that a workload reads.

Spring Boot lays variables over files (externalized configuration), so that they are one application's.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from eosctl.model.deployment import Role
from eosctl.settings.files.environments import laid_over, profile_of
from eosctl.settings.platforms.application_files import project_of, words_of
from eosctl.settings.platforms.readers import is_read
from eosctl.settings.platforms.workload import Workload
from eosctl.settings.values.sources import Source


def with_spring_environments(sources: Sequence[Source], workloads: Iterable[Workload]) -> list[Source]:
    """Return the sources, those of Spring that one workload reads joined with the variables of its container.

    Only what stands in one folder is joined: copies for other environments stand in other folders.
    """
    found = list(sources)
    held: dict[str, list[Source]] = {}
    for one in filter(_is_held, found):
        held.setdefault(_folder(one), []).append(one)
    reads: dict[str, frozenset[str]] = {}
    for workload in workloads:
        reads[workload.name] = reads.get(workload.name, frozenset()) | workload.reads
    joined: list[Source] = []
    for number, source in enumerate(found):
        if source.role is not Role.SPRING or not source.part_of or not reads.get(source.part_of):
            continue
        own = [one for one in held.get(_folder(source), ()) if _reads(reads[source.part_of], one)]
        if len({one.held_by or one.place.file for one in own}) != len(own):
            continue  # several documents of one file: which of them holds is decided elsewhere
        values = {name: value for one in own for name, value in one.values.items()}
        found[number] = replace(source, values=laid_over(values, source.values))
        joined += own
    gone = {id(one) for one in joined}
    return _over_own_files([one for one in found if id(one) not in gone])


def _over_own_files(sources: list[Source]) -> list[Source]:
    """Return the sources, the file of a Spring application with the variables of the only workload that runs it.

    Nothing names the file: it is that of the application with the workload's name, or the only one in the folder.
    """
    files = [one for one in sources if _is_held(one) and not _is_of_variables(one)]
    variables = [one for one in sources if one.role is Role.SPRING and not one.environment and _is_of_variables(one)]
    near = {id(one): [file for file in files if _is_own(file, one)] for one in variables}
    owners = {key: found[0] for key, found in near.items() if len(found) == 1}
    found = {id(one): one for one in sources}
    for one in variables:
        file = owners.get(id(one))
        if file is None or sum(other is file for other in owners.values()) > 1:
            continue  # variables of several environments: each of them holds elsewhere
        for own in (file, *(part for part in found.values() if _is_profile_of(file, part))):
            own = found[id(own)]
            values = laid_over(own.values, one.values)
            found[id(own)] = replace(own, values=values, instances=own.instances or one.instances)
        del found[id(one)]
    return list(found.values())


def _is_profile_of(file: Source, other: Source) -> bool:
    """Return whether a source is a file of Spring with the values of a profile over it."""
    return other.role is Role.SPRING and bool(other.environment) and other.place.file == file.place.file


def _is_of_variables(source: Source) -> bool:
    return all(value.key.isupper() for value in source.values.values())


def _is_own(file: Source, variables: Source) -> bool:
    if _folder(file) == _folder(variables):
        return not variables.part_of
    name = file.values.get("spring.application.name")
    folder = project_of(file.place.file).rpartition("/")[2]
    words = words_of((name.text or "") if name is not None else folder)
    held = variables.part_of or posixpath.splitext(variables.place.file)[0]
    return bool(words) and words == words_of(posixpath.basename(held.rpartition(" ")[2]))


def _is_held(source: Source) -> bool:
    """Return whether a source of Spring stands in a file or a ConfigMap, and holds in every environment."""
    is_of_profile = source.environment or profile_of(source.values)
    return source.role is Role.SPRING and not source.part_of and not is_of_profile


def _folder(source: Source) -> str:
    return posixpath.dirname(source.place.file)


def _reads(names: frozenset[str], source: Source) -> bool:
    return is_read(source.held_by or source.place.file, names)
