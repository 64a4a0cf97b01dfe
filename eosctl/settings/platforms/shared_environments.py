"""Environments whose variables stand in several places: a container's own, ConfigMaps, files, and its image.

A container's ``env`` lies over its ``envFrom`` and its image, and a unit of systemd has its own variables next to its
files, so that they are one application's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from eosctl.model.deployment import Role
from eosctl.settings.frameworks.resolution import application_of
from eosctl.settings.platforms.readers import is_read
from eosctl.settings.platforms.workload import Workload
from eosctl.settings.platforms.workloads import service_name
from eosctl.settings.programs.environment import CLIENT_ROLES
from eosctl.settings.programs.program_files import IMAGE
from eosctl.settings.values.sources import Source

_ROLES: Final = (*CLIENT_ROLES, Role.BROKER)
_UNIT: Final = ".service"


def with_shared_environments(sources: Sequence[Source], workloads: Iterable[Workload]) -> list[Source]:
    """Return the sources, each client of a container with the variables that its workload reads elsewhere.

    What only one workload reads and its container has no client for is a part of the same application. Of resources
    with one name, as environments have them, it is not known which one a workload reads.
    """
    reads: dict[str, frozenset[str]] = {}
    for workload in workloads:
        reads[workload.name] = reads.get(workload.name, frozenset()) | workload.reads
    shared = [one for one in sources if _is_shared(one)] if reads else []
    if not shared:
        return list(sources)
    readers = {id(one): [name for name, names in reads.items() if _reads(names, one)] for one in shared}
    found = {id(one): one for one in sources}  # by identity: equal variables of two containers are two sources
    for one in shared:
        names = readers[id(one)]
        clients = [_clients_of(name, reads[name], sources) for name in names]
        if not names or not all(clients) or _is_ambiguous(one, shared):
            continue
        takers = [[client for client in own if _is_of_one_client(client, one)] for own in clients]
        if all(takers):
            for client in (client for own in takers for client in own):
                found[id(client)] = _joined(found[id(client)], one)
            del found[id(one)]
        elif len(names) == 1:
            found[id(one)] = replace(one, application=application_of(clients[0][0]))
    return list(found.values())


def _is_shared(source: Source) -> bool:
    """Return whether a source holds variables of a client, in a resource or a file of its own."""
    is_elsewhere = (
        (not source.part_of or is_image(source)) and not source.environment and not source.place.file.endswith(_UNIT)
    )
    return (
        is_elsewhere
        and source.role in _ROLES
        and bool(source.values)
        and all(value.key.isupper() for value in source.values.values())
    )


def is_image(source: Source) -> bool:
    """Return whether a source is the broker that a Dockerfile makes."""
    return source.part_of == service_name(IMAGE, source.place.file)


def _is_ambiguous(source: Source, others: Iterable[Source]) -> bool:
    places = {one.place.file for one in others if source.held_by and one.held_by == source.held_by}
    return len(places) > 1


def _clients_of(name: str, reads: frozenset[str], sources: Iterable[Source]) -> list[Source]:
    """Return the clients that a workload's own variables configure."""
    return [
        one
        for one in sources
        if one.role in _ROLES
        and (one.part_of == name or (one.place.file.endswith(_UNIT) and not one.part_of and _reads(reads, one)))
    ]


def _is_of_one_client(client: Source, shared: Source) -> bool:
    return client.role is shared.role or shared.role in client.others or client.role in shared.others


def _joined(client: Source, shared: Source) -> Source:
    """Return a client with shared variables below its own; what only one of them shows is what both are."""
    decided = shared if client.others and not shared.others else client
    values, version = {**shared.values, **client.values}, client.version or shared.version
    return replace(client, values=values, version=version, role=decided.role, others=decided.others)


def _reads(names: frozenset[str], source: Source) -> bool:
    return is_read(source.held_by or source.place.file, names)
