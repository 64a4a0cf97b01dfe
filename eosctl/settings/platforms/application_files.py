"""Applications' own files next to the manifests that start them: nothing names the file, and the place shows it.

A project keeps ``src/main/resources/application.yml`` next to ``k8s/deployment.yaml``; a pipeline makes a ConfigMap of
the file. The two belong together where their folders do without the usual names of folders, and the names agree.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from msgspec.structs import replace

from eosctl.model.deployment import Role, Value
from eosctl.settings.platforms.workload import Workload, filled_by, merged
from eosctl.settings.platforms.workloads import with_instances
from eosctl.settings.programs.environment import CLIENT_ROLES
from eosctl.settings.programs.process_counts import CHART, WITHOUT_NUMBER
from eosctl.settings.values.sources import Source

_APPLICATIONS: Final = (*CLIENT_ROLES, Role.SPRING)
_FOLDERS: Final = frozenset(
    {
        *("src", "main", "resources", "config", "conf", "configs", "configuration", "etc", "app", "application"),
        *("files", "env", "properties", "settings", "k8s", "kubernetes", "kube", "deploy", "deployment", "deployments"),
        *("manifests", "helm", "chart", "charts", "templates", "base", "ops", "infra", "infrastructure", "kustomize"),
        *("overlays", "docker", "compose", "java", "."),
        *("group_vars", "host_vars", "vars", "defaults", "topics", "connectors", "roles", "ansible", "terraform"),
        *("inventory", "inventories"),
    }
)
"""Folders that a project has its files in: what stands above them is the project."""
_OF_MANY: Final = frozenset(
    {
        *("charts", "helm", "overlays", "environments", "envs", "deploy", "k8s", "kubernetes", "manifests", "roles"),
        *("group_vars", "inventories"),
    }
)
"""Folders that have one folder for each chart or environment."""
_NAMES: Final = ("spring.application.name", "quarkus.application.name", "micronaut.application.name")
_OTHER_NAMES: Final = ("application.id", "group.id", "client.id", "transactional.id")
_GENERIC: Final = frozenset(
    {*("service", "svc", "app", "application", "api", "server", "worker", "prod", "production", "release"), ""}
)
_SERVERS: Final = re.compile(
    r"(?:cp-)?(?:kafka(?:-native|-ui|-connect)?|server|zookeeper|schema-registry|ksqldb-server|postgres(?:ql)?|mysql"
    r"|mariadb|mongo(?:db)?|redis|nginx|grafana|prometheus|elasticsearch|kibana|keycloak|rabbitmq|minio|akhq|kafdrop"
    r"|busybox|alpine|redpanda|console|connect|cruise-control|kafka-exporter|toxiproxy|localstack|adminer)"
)
"""Other servers, which the project only uses."""
_CHOICES: Final = (
    *("SPRING_PROFILES_ACTIVE", "QUARKUS_PROFILE", "MICRONAUT_ENVIRONMENTS", "DOTNET_ENVIRONMENT"),
    *("ASPNETCORE_ENVIRONMENT", "NODE_ENV", "APP_ENV", "ENVIRONMENT"),
)
"""Variables by which a workload chooses the environment whose files its application reads."""
_OF_DOTNET: Final = "__"
"""What stands for a colon in variables of .NET."""
_BUILT: Final = ("Dockerfile", "Containerfile")


def with_processes(sources: Iterable[Source], workloads: Sequence[Workload]) -> list[Source]:
    """Return the sources, each with the number of its processes, by names or else by the place of its file."""
    given = with_instances(sources, workloads)
    started = [one for one in merged(workloads).values() if _is_described(one) and _runs_many(one.processes)]
    if not started:
        return given
    alone = [one for one in given if _is_alone(one)]
    by_root: dict[str, list[Workload]] = {}
    if alone:
        for workload in started:
            for root in _roots(workload):
                by_root.setdefault(root, []).append(workload)
    found = {
        id(one): own for one in alone if (own := _own(one, alone, by_root) or _called_so(one, started)) is not None
    }
    environments: dict[str, set[str]] = {}
    for one in alone:
        environments.setdefault(one.place.file, set()).add(one.environment)
    found = {
        id(one): found[id(one)]
        for one in alone
        if id(one) in found and _is_chosen(one, found[id(one)], environments[one.place.file])
    }
    over = {id(one): part for one in alone if (part := _variables_of(one, found.get(id(one)), given)) is not None}
    laid = {id(part) for part in over.values()}
    return [
        _started(_over(one, over.get(id(one))), found[id(one)]) if id(one) in found else one
        for one in given
        if id(one) not in laid
    ]


def _is_alone(source: Source) -> bool:
    is_application = source.role in _APPLICATIONS and source.instances is None
    return is_application and not (source.part_of or source.held_by)


def _is_described(workload: Workload) -> bool:
    return bool(workload.images) or any(name.endswith(_BUILT) for name in workload.reads)


def _runs_many(count: Value | None) -> bool:
    return count is not None and (count.text in WITHOUT_NUMBER or (count.number or 0) > 1)


def _is_chosen(source: Source, workload: Workload, environments: Iterable[str]) -> bool:
    """Return whether a workload reads a source of one environment: all of them where it names none that has a file."""
    chosen = {word for name in _CHOICES for word in _words_of_environment(workload.variables.get(name, ""))}
    known = any(chosen & _words_of_environment(one) for one in environments)
    return not known or bool(chosen & _words_of_environment(source.environment))


def _words_of_environment(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", text.lower()))


def _variables_of(source: Source, workload: Workload | None, others: Iterable[Source]) -> Source | None:
    """Return what variables of .NET (``Kafka__Producer__TransactionalId``) lay over a file in its workload."""
    if workload is None:
        return None
    own = (one for one in others if one.part_of == workload.name and one.role is source.role)
    found = [one for one in own if all(_OF_DOTNET in value.key for value in one.values.values())]
    return found[0] if len(found) == 1 else None


def _over(source: Source, variables: Source | None) -> Source:
    return source if variables is None else replace(source, values={**source.values, **variables.values})


def _started(source: Source, workload: Workload) -> Source:
    values = filled_by(source.values, workload.variables) if workload.variables else source.values
    return replace(source, instances=workload.processes, values=values)


def _own(source: Source, others: Iterable[Source], by_root: dict[str, list[Workload]]) -> Workload | None:
    """Return the workload that runs the application of a file; None where several may, or none does."""
    root = project_of(source.place.file)
    near = [one for one in by_root.get(root, ()) if not any(map(_is_server, one.images))]
    if any(not one.name.startswith(CHART) for one in near):
        near = [one for one in near if not one.name.startswith(CHART)]
    named = [one for one in near if _agrees(source, one)]
    if len(named) == 1:
        return named[0]
    is_only = len(near) == 1 and not any(source.values.get(name) for name in _NAMES)
    same = [one for one in others if project_of(one.place.file) == root] if is_only else []
    return near[0] if is_only and not any(_agrees(one, near[0]) for one in same) else None


def _called_so(source: Source, started: Iterable[Workload]) -> Workload | None:
    """Return the only workload of a project around the application's that is called exactly like it, or its image is.

    .NET and Go have the application's file in a folder of any name, and the manifests next to that.
    """
    ids = set(map(words_of, _names_of(source))) - {frozenset()}
    project = project_of(source.place.file)
    near = [
        one for one in started if any(root in ("", project) or project.startswith(f"{root}/") for root in _roots(one))
    ]
    named = [one for one in near if not ids.isdisjoint(map(words_of, (_plain(one.name), *map(_base, one.images))))]
    return named[0] if len(named) == 1 else None


def _agrees(source: Source, workload: Workload) -> bool:
    """Return whether an application's name, or an id of it, is that of a workload or its image."""
    names = _names_of(source)
    own = [words_of(name) for name in (_plain(workload.name), *map(_base, workload.images))]
    ids = filter(None, map(words_of, names))
    return any(one <= other or other <= one for one in ids for other in own if other)


@lru_cache(maxsize=4_096)
def words_of(name: str) -> frozenset[str]:
    """Return the words of a name that are not those of any program: ``{"pay"}`` of ``pay-service``."""
    return frozenset(re.split(r"[^a-z0-9]+", name.lower())) - _GENERIC


def _names_of(source: Source) -> list[str]:
    """Return what an application calls itself, else its ids."""
    declared = [value.text for name in _NAMES if (value := source.values.get(name))]
    return list(filter(None, declared or [value.text for name in _OTHER_NAMES if (value := source.values.get(name))]))


def _plain(name: str) -> str:
    return name.rpartition(" ")[2].rpartition("/")[2]


def _base(image: str) -> str:
    return image.partition("@")[0].rpartition("/")[2].partition(":")[0]


def _is_server(image: str) -> bool:
    return _SERVERS.fullmatch(_base(image)) is not None


def _roots(workload: Workload) -> set[str]:
    """Return the projects that a workload may belong to: that of its manifest, and what its image is built from."""
    built = (posixpath.dirname(name) for name in workload.reads if name.endswith(_BUILT))
    files = (workload.processes.file,) if workload.processes is not None else ()
    return {*map(project_of, files), *(project_of(f"{folder}/x") for folder in built)}


@lru_cache(maxsize=16_384)
def project_of(file: str) -> str:
    """Return the folder of the project that a file belongs to.

    >>> project_of("pay/src/main/resources/application.yml"), project_of("pay/k8s/overlays/prod/patch.yaml")
    ('pay', 'pay')
    """
    parts = posixpath.normpath(file).split("/")[:-1]
    while parts and (parts[-1].lower() in _FOLDERS or (len(parts) > 1 and parts[-2].lower() in _OF_MANY)):
        parts.pop()
    return "/".join(parts)
