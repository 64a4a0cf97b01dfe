"""What a platform starts: workloads, how many processes each has, and which files and resources they read.

Kubernetes' controllers with their autoscalers, kustomizations, Strimzi's node pools, and services of Compose.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.errors import ConfigFileError
from eosctl.model.deployment import Place, Role, Value
from eosctl.model.unjudged import Unseen
from eosctl.settings.files.documents import parse_within, starts_programs
from eosctl.settings.formats.pm2_file import NAMES as PM2_FILES
from eosctl.settings.formats.tree import Branch, Leaf, Node, Row
from eosctl.settings.platforms.compose_configs import configs_of, files_of_configs
from eosctl.settings.platforms.container_files import containers_of, kafka_files, overrides_of
from eosctl.settings.platforms.pod_storage import lost_storage
from eosctl.settings.platforms.readers import Readers, is_read
from eosctl.settings.platforms.workload import Workload, filled_by, merged
from eosctl.settings.programs.environment import release_of_image
from eosctl.settings.programs.kafka_commands import CONFIGURATION
from eosctl.settings.programs.pod_variables import expanded, pairs_in, pod_variables
from eosctl.settings.programs.process_counts import (
    CHART,
    CHART_FILES,
    COUNT,
    ONE_PER_NODE,
    WITHOUT_NUMBER,
    chart_count,
    knative_count,
    process_counts,
)
from eosctl.settings.values.sources import Source, value_of

_CONTROLLERS: Final[Mapping[str, tuple[str, ...]]] = {
    "Deployment": ("spec", "replicas"),
    "StatefulSet": ("spec", "replicas"),
    "ReplicaSet": ("spec", "replicas"),
    "ReplicationController": ("spec", "replicas"),
    "DeploymentConfig": ("spec", "replicas"),
    "Rollout": ("spec", "replicas"),
    "DaemonSet": (),
    "Job": ("spec", "parallelism"),
    "CronJob": ("spec", "jobTemplate", "spec", "parallelism"),
}
_SCALERS: Final[Mapping[str, str]] = {"HorizontalPodAutoscaler": "maxReplicas", "ScaledObject": "maxReplicaCount"}
# What a pod's template names, and under which key the name stands.
_REFERENCES: Final[Mapping[str, tuple[str, str]]] = {
    "configMap": ("ConfigMap", "name"),
    "configMapRef": ("ConfigMap", "name"),
    "configMapKeyRef": ("ConfigMap", "name"),
    "secret": ("Secret", "secretName"),
    "secretRef": ("Secret", "name"),
    "secretKeyRef": ("Secret", "name"),
}
GENERATED: Final[Mapping[str, str]] = {"configMapGenerator": "ConfigMap", "secretGenerator": "Secret"}
"""What generators of kustomizations make."""
_PATCHES: Final = ("patches", "patchesJson6902", "patchesStrategicMerge")
_PROJECT: Final = re.compile(r"^\$(?:PWD|\{PWD(?::?-[^}]*)?\})(?=/|:|$)")
"""The folder in which Compose is called, which is that of its file by habit."""
_SERVICE: Final = "service "
_NEXT_TO_BROKERS: Final = (Role.CONNECT_WORKER, Role.MIRROR_MAKER)
"""What has clusters of brokers around it that the same file describes."""
_POOL: Final = "KafkaNodePool "
OF_DISTRIBUTION: Final = (Role.BROKER, Role.CONNECT_WORKER, Role.MIRROR_MAKER)
"""What Kafka's distribution has programs for: the release of an image that starts one is its own."""


def workloads_of(document: Node, file: str) -> list[Workload]:
    """Return the workloads that a document describes, or the parts of them."""
    if not isinstance(document, Branch) or document.is_plain:
        return []
    if isinstance(services := document.get("services"), Branch):
        return list(_services(document, services, file))
    if posixpath.basename(file) in PM2_FILES:
        return list(_programs(document, file))
    if CHART_FILES.search(file) and (count := chart_count(document, file)) is not None:
        return [Workload(f"{CHART}{posixpath.dirname(file)}", count, images=_image_of_chart(document))]
    generates = any(document.get(key) is not None for key in GENERATED)
    if generates or (document.text("kind") or "Kustomization") == "Kustomization":
        return list(_kustomization(document, file))
    return list(_resource(document, file))


def _programs(document: Branch, file: str) -> Iterator[Workload]:
    """Yield the programs that PM2 starts; each is described by its name, as it has no image."""
    for app in document.items("apps"):
        name, count = app.text("name") if isinstance(app, Branch) else None, next(process_counts(app, file), None)
        if name and count is not None:
            yield Workload(f"program {name}", count.processes, images=(name,))


def with_instances(sources: Iterable[Source], workloads: Iterable[Workload]) -> list[Source]:
    """Return the sources, each with the number of processes that run with it where a workload shows that."""
    parts = list(workloads)
    if not parts:
        return list(sources)
    counts, partial = _counts(merged(parts)), merged(one for one in parts if not one.is_whole)
    whole = {(one.name, one.processes.file): one.processes for one in parts if one.is_whole and one.processes}

    def own(source: Source) -> Value | None:
        """Return the count of the whole description around a source, or a higher one of an overlay or a scaler."""
        count = whole.get((source.part_of, source.place.file))
        other = partial[source.part_of].processes if source.part_of in partial else None
        return max(count, other, key=lambda one: one.number or 0) if count and other else count

    return [
        replace(source, instances=count)
        if source.instances is None and (count := own(source))
        else _counted(source, counts)
        for source in sources
    ]


def unseen_by(workloads: Iterable[Workload], sources: Iterable[Source]) -> list[Unseen]:
    """Return the configurations of Kafka that workloads read, where no source is one of theirs."""
    given, found = list(sources), list[Unseen]()
    parts, held = {source.part_of for source in given}, {source.held_by or source.place.file for source in given}
    for one in workloads:
        is_seen = not one.kafka_files or one.name in parts or any(is_read(name, one.reads) for name in held)
        found += () if is_seen else one.kafka_files
    return list(dict.fromkeys(found))


class _Counts(NamedTuple):
    """Workloads by their names and by what they read, and the pools of brokers among them."""

    workloads: Mapping[str, Workload]
    pools: Mapping[str, Value | None]
    reading: Sequence[Workload]
    readers: Readers


def _counts(workloads: Mapping[str, Workload]) -> _Counts:
    pools = {name: one.processes for name, one in workloads.items() if name.startswith(_POOL)}
    reading = [one for one in workloads.values() if one.reads]
    return _Counts(workloads, pools, reading, Readers(one.reads for one in reading))


def _counted(source: Source, counts: _Counts) -> Source:
    if source.instances is not None:
        return source
    if source.part_of:
        named = [count for name, count in counts.pools.items() if name.startswith(f"{_POOL}{source.part_of}/")]
        pools = [count for count in named if count is not None]
        own = counts.workloads.get(source.part_of)
        count = _total(_of_file(source.place.file, pools)) or (own.processes if own else None)
        return source if count is None else replace(source, instances=count)
    readers = [counts.reading[number] for number in counts.readers.of(source.held_by or source.place.file)]
    if len(readers) > 1 and not source.held_by and starts_programs(source.place.file):
        return source  # a folder of scripts that several services mount: each runs its own
    if len(readers) == 1 and readers[0].variables:
        source = replace(source, values=filled_by(source.values, readers[0].variables))
    if len(readers) == 1 and readers[0].overrides and source.role is Role.BROKER:
        source = replace(source, values={**source.values, **readers[0].overrides})
    if len(readers) == 1 and source.role in OF_DISTRIBUTION and not source.version:
        releases = set(map(release_of_image, readers[0].images))
        source = replace(source, version=releases.pop() if len(releases) == 1 else "")
    if len(readers) == 1 and readers[0].name.startswith(_SERVICE) and source.role in _NEXT_TO_BROKERS:
        source = replace(source, described_by=source.described_by or _file_of(readers[0]))
    count = _total([one.processes for one in readers if one.processes is not None])
    return source if count is None else replace(source, instances=count)


def _of_file(file: str, counts: list[Value]) -> list[Value]:
    """Return the counts in a cluster's own file, else all: examples in one folder often call their clusters alike."""
    return [count for count in counts if count.file == file] or counts


def _total(counts: list[Value]) -> Value | None:
    """Return how many processes several counts make; the place is that of the largest."""
    if len(counts) < 2:
        return counts[0] if counts else None
    largest = max(counts, key=lambda one: one.number or 0)
    total = sum(one.number or 0 for one in counts)
    return largest if largest.text in WITHOUT_NUMBER else replace(largest, text=str(total))


def _resource(document: Branch, file: str) -> Iterator[Workload]:
    kind, name = document.text("kind") or "", document.text("metadata", "name") or ""
    if kind in _SCALERS:
        limit, target = document.get("spec", _SCALERS[kind]), document.text("spec", "scaleTargetRef", "name")
        target_kind = document.text("spec", "scaleTargetRef", "kind") or "Deployment"
        if isinstance(limit, Leaf) and target:
            yield Workload(f"{target_kind} {target}", value_of(_SCALERS[kind], limit, file, COUNT))
    elif kind == "Kafka" and (document.text("apiVersion") or "").startswith("kafka.strimzi.io"):
        has_pools = document.text("metadata", "annotations", "strimzi.io/node-pools") == "enabled"
        own = None if has_pools else document.get("spec", "kafka", "replicas")  # ignored next to node pools
        count = _count(own, document, file, None)
        is_whole = document.get("spec", "kafka", "listeners") is not None
        storage = None if has_pools else document.branch("spec", "kafka", "storage")
        yield Workload(f"Kafka {name}", count, is_whole=is_whole, overrides=lost_storage(storage, file))
    elif kind == "KafkaNodePool":
        cluster = document.text("metadata", "labels", "strimzi.io/cluster") or ""
        roles = [node.text for node in document.items("spec", "roles") if isinstance(node, Leaf)]
        if "broker" in roles or not roles:
            count = _count(document.get("spec", "replicas"), document, file, None)
            yield Workload(f"{_POOL}Kafka {cluster}/{name}/{file}", count)
            if lost := lost_storage(document.branch("spec", "storage"), file):
                yield Workload(f"Kafka {cluster}", None, overrides=lost)
    elif kind == "Service" and (document.text("apiVersion") or "").startswith("serving.knative.dev"):
        yield Workload(f"Service {name}", knative_count(document, file), frozenset(_referenced(document)))
    elif kind in _CONTROLLERS:
        path = _CONTROLLERS[kind]
        one = None if document.get("spec", "template") is None and path[-1:] == ("replicas",) else "1"
        count = (
            _count(document.get(*path), document, file, one)
            if path
            else Value(COUNT, ONE_PER_NODE, "kind: DaemonSet", Place(file, document.line))
        )
        reads, variables = frozenset(_referenced(document)), dict(pod_variables(document))
        is_whole = document.get("spec", "selector") is not None or path[-1:] != ("replicas",)
        containers = list(containers_of(document))
        files = tuple(one for part in containers for one in kafka_files(part, file, is_whole=is_whole))
        overrides = {key: value for part in containers for key, value in overrides_of(part, file).items()}
        yield Workload(
            f"{kind} {name}",
            count,
            reads,
            variables,
            is_whole=_has_image(document),
            kafka_files=files,
            overrides=overrides,
            images=tuple(image for part in containers if (image := part.text("image"))),
            environment={name: value for part in containers for name, value in _environment(part.get("env"), file)},
        )


def _environment(node: Node | None, file: str) -> Iterator[tuple[str, Value]]:
    """Yield the variables of a container, with the earlier ones that they refer to."""
    for name, leaf in expanded(pairs_in(node)):
        yield name, value_of(name, leaf, file)


def _image_of_chart(values: Branch) -> tuple[str, ...]:
    name, text = values.text("image", "repository") or values.text("image", "name"), values.text("image")
    return tuple(filter(None, (name, text))) or (CHART,)


def _has_image(node: Node) -> bool:
    """Return whether containers in a resource have images: what an overlay changes seldom has."""
    if isinstance(node, Row):
        return any(map(_has_image, node.nodes))
    return isinstance(node, Branch) and any(
        key == "image" if isinstance(child, Leaf) else _has_image(child) for key, child in node.entries
    )


def _count(node: Node | None, around: Branch, file: str, default: str | None) -> Value | None:
    if isinstance(node, Leaf) and node.text is not None:
        return value_of(COUNT, node, file)
    return None if default is None else Value(COUNT, default, COUNT, Place(file, around.line))


def _referenced(node: Node) -> Iterator[str]:
    if isinstance(node, Row):
        for member in node.nodes:
            yield from _referenced(member)
    if not isinstance(node, Branch):
        return
    for key, child in node.entries:
        if key in _REFERENCES and isinstance(child, Branch):
            kind, named = _REFERENCES[key]
            if name := child.text(named) or child.text("name"):
                yield f"{kind} {name}"
        elif not isinstance(child, Leaf):
            yield from _referenced(child)


def _kustomization(document: Branch, file: str) -> Iterator[Workload]:
    for member in document.items("replicas"):
        if isinstance(member, Branch) and (name := member.text("name")) and isinstance(member.get("count"), Leaf):
            count = _count(member.get("count"), member, file, None)
            for kind in ("Deployment", "StatefulSet"):
                yield Workload(f"{kind} {name}", count)
    yield from _patched(document, file)


def _patched(document: Branch, file: str) -> Iterator[Workload]:
    """Yield the counts that the patches in a kustomization give, as operations on a target or as parts of resources."""
    for member in (node for key in _PATCHES for node in document.items(key)):
        text = member if isinstance(member, Leaf) else member.get("patch") if isinstance(member, Branch) else None
        if not isinstance(text, Leaf) or "replicas" not in (text.text or ""):
            continue
        try:
            patches = parse_within("patch.yaml", text.text or "", text.line)
        except ConfigFileError:
            continue  # the path of a file, or what no tool applies
        target = member.branch("target") if isinstance(member, Branch) else None
        for patch in patches:
            if isinstance(patch, Branch):
                yield from _resource(patch, file)
            elif isinstance(patch, Row) and target is not None:
                yield from _operated(patch, target, file)


def _operated(patch: Row, target: Branch, file: str) -> Iterator[Workload]:
    for operation in patch.nodes:
        if isinstance(operation, Branch) and operation.text("path") == "/spec/replicas":
            count = _count(operation.get("value"), operation, file, None)
            yield Workload(f"{target.text('kind')} {target.text('name')}", count)


def generated_by(document: Node, file: str) -> dict[str, str]:
    """Return the ConfigMap or the Secret that each file becomes by a kustomization."""
    if not isinstance(document, Branch) or document.is_plain:
        return {}
    found: dict[str, str] = {}
    for key, kind in GENERATED.items():
        for member in document.items(key):
            if isinstance(member, Branch) and (name := member.text("name")):
                for node in (*member.items("files"), *member.items("envs")):
                    if isinstance(node, Leaf) and node.text:
                        found[_path(file, node.text.rpartition("=")[2])] = f"{kind} {name}"
    return found


def _services(document: Branch, services: Branch, file: str) -> Iterator[Workload]:
    shared = files_of_configs(document, file)
    for name, service in services.entries:
        if isinstance(service, Branch):
            node = service.get("deploy", "replicas") or service.get("scale")
            # A unit or a script may run on any number of machines.
            count = _count(node, service, file, None if service.get(CONFIGURATION) else "1")
            if service.text("deploy", "mode") == "global":
                count = Value(COUNT, ONE_PER_NODE, "deploy.mode", Place(file, service.line))
            own = service.branch("environment")
            texts = {key: leaf.text for key, leaf in (own.entries if own else ()) if isinstance(leaf, Leaf)}
            variables = {key: text for key, text in texts.items() if text and "$" not in text}
            files, overrides = kafka_files(service, file), overrides_of(service, file)
            yield Workload(
                service_name(name, file),
                count,
                frozenset(_files_of(service, file, shared)),
                variables,
                kafka_files=files,
                overrides=overrides,
                images=tuple(filter(None, (service.text("image"),))),
                environment=dict(_environment(service.get("environment"), file)),
            )


def service_name(name: str, file: str) -> str:
    """Return what a service of Compose is called as a workload: the files of one folder belong together."""
    return f"{_SERVICE}{posixpath.dirname(file)}/{name}"


def _file_of(workload: Workload) -> str:
    """Return the file that describes a workload; empty where it shows no number of processes."""
    return "" if workload.processes is None else workload.processes.file


def _files_of(service: Branch, file: str, shared: Mapping[tuple[str, str], str]) -> Iterator[str]:
    env_file = service.get("env_file")
    members: Iterable[Node] = env_file.nodes if isinstance(env_file, Row) else (env_file,) if env_file else ()
    for node in members:
        text = node.text if isinstance(node, Leaf) else node.text("path") if isinstance(node, Branch) else None
        if text:
            yield _path(file, text)
    if (build := service.get("build")) is not None:
        context = build.text if isinstance(build, Leaf) else service.text("build", "context")
        yield _path(file, posixpath.join(context or ".", service.text("build", "dockerfile") or "Dockerfile"))
    if (started := service.text(CONFIGURATION)) is not None:
        yield _path(file, started)
    for node in service.items("volumes"):
        text = node.text if isinstance(node, Leaf) else node.text("source") if isinstance(node, Branch) else None
        text = _PROJECT.sub(".", text or "")
        if text.startswith((".", "/")):
            yield _path(file, text.partition(":")[0])
    yield from (shared[one] for one in configs_of(service) if one in shared)


def _path(file: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(file), path))
