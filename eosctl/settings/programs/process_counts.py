"""How many processes run with what stands in a mapping: charts, Nomad, ECS, Knative, and tasks of Ansible."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.model.deployment import Place, Role, Value
from eosctl.settings.formats.cloud_formation import named_by
from eosctl.settings.formats.tree import Branch, Leaf, Node, Row
from eosctl.settings.values.sources import Source, value_of

COUNT: Final = "replicas"
CHART: Final = "chart "
"""How the workload of a chart is called, before the chart's folder."""
CHART_FILES: Final = re.compile(r"(?:^|/)values[\w.-]*\.ya?ml$")
ONE_PER_NODE: Final = "one per node"
ONE_PER_INSTANCE: Final = "one per instance"
"""The count of a template unit of systemd, which exists to be started several times."""
ONE_PER_REQUESTS: Final = "as requests need"
"""The count of a service of Knative without a limit."""
ONE_PER_CORE: Final = "one per core"
"""The count of PM2's application with ``instances: max``."""
ONE_PER_ROUND: Final = "one per round"
"""The count of a loop in a script whose rounds are not known."""
WITHOUT_NUMBER: Final = (ONE_PER_NODE, ONE_PER_INSTANCE, ONE_PER_REQUESTS, ONE_PER_CORE, ONE_PER_ROUND)
_OF_CORES: Final = re.compile(r"max|0|-1|.*\bcpus\b.*")
"""What PM2 takes for all cores of the machine, or for all but one."""
_KNATIVE_LIMITS: Final = ("autoscaling.knative.dev/max-scale", "autoscaling.knative.dev/maxScale")
COUNTS: Final = ("replicaCount", "replicas", "desired_count", "DesiredCount", "count", "instances", "numReplicas")
_SCALES: Final = ("scale", "scaling")
_LIMITS: Final = ("maxReplicas", "max_replicas", "max_instance_count", "maxInstanceCount")
"""The most processes that container services of clouds start: Azure's Container Apps, and Google's Cloud Run."""
_OF_EACH_NODE: Final = {"scheduling_strategy": "DAEMON", "SchedulingStrategy": "DAEMON"}
"""How ECS says that each machine runs a process."""
_LOOPS: Final = ("loop", "with_items", "with_list", "with_sequence")
_DECISIVE: Final = frozenset(
    {*COUNTS, *_LOOPS, *_SCALES, *_LIMITS, "autoscaling", "controller", "Resources", "resource"}
)
_RANGE: Final = re.compile(r"range\(\s*(?:(\d{1,6})\s*,\s*)?(\d{1,6})\s*\)")
_TASK: Final = re.compile(r"aws_ecs_task_definition\.([\w-]+)\.")
_SEQUENCE: Final = re.compile(r"\bcount=(\d{1,6})")


class Counted(NamedTuple):
    """Lines of a file whose settings a number of processes has."""

    first: int
    last: int
    processes: Value


def process_counts(node: Node, file: str) -> Iterator[Counted]:
    """Yield the lines of each mapping that has a count, with the count."""
    if isinstance(node, Row):
        for member in node.nodes:
            yield from process_counts(member, file)
    if not isinstance(node, Branch):
        return
    if not _DECISIVE.isdisjoint(node.by_key):
        yield from _counts_of(node, file)
    for _, child in node.entries:
        if not isinstance(child, Leaf):
            yield from process_counts(child, file)


def _counts_of(node: Branch, file: str) -> Iterator[Counted]:
    count = _own_count(node, file)
    if count is not None:
        yield Counted(node.line, _last_line(node), count)
    resources = node.branch("Resources")
    if resources is not None:
        yield from _cloud_formation(resources, file)
    if services := _of_type(node, "aws_ecs_service"):
        yield from _terraform(services, _of_type(node, "aws_ecs_task_definition"), file)


def chart_count(values: Branch, file: str) -> Value | None:
    """Return how many processes the values of a chart of one application start; None for other files."""
    is_chart = values.get("replicaCount") is not None or values.branch("autoscaling") is not None
    return _own_count(values, file) if is_chart and values.get("image") is not None else None


def _own_count(node: Branch, file: str) -> Value | None:
    scaling = node.branch("autoscaling")
    if scaling is not None and (scaling.text("enabled") or "").lower() == "true":
        limit = scaling.get("maxReplicas")
        if isinstance(limit, Leaf):
            return value_of("maxReplicas", limit, file, COUNT)
    cores = node.get("instances")
    if isinstance(cores, Leaf) and _OF_CORES.fullmatch(cores.text or "") and node.get("script") is not None:
        return value_of("instances", Leaf(ONE_PER_CORE, cores.line), file, COUNT)
    if (most := _limit(node, file)) is not None:
        return most
    leaves = ((key, leaf) for key, leaf in node.entries if isinstance(leaf, Leaf))
    own = next((value_of(key, leaf, file, COUNT) for key, leaf in leaves if _is_count(key, leaf)), None)
    return own or _brokers_of_chart(node, file) or _loop(node, file)


def _limit(node: Branch, file: str) -> Value | None:
    """Return the limit of a template of containers; it stands in it, or in a mapping for the scale."""
    for place in (node, *(scale for key in _SCALES if (scale := node.branch(key)) is not None)):
        for key in _LIMITS:
            leaf = place.get(key)
            if isinstance(leaf, Leaf) and (leaf.text or "").isdecimal() and int(leaf.text or 0) > 1:
                return value_of(key, leaf, file, COUNT)
    return None


def _brokers_of_chart(node: Branch, file: str) -> Value | None:
    """Return the brokers that Bitnami's chart starts: its controllers, which are brokers too by default, and others."""
    controllers, brokers = node.get("controller", "replicaCount"), node.get("broker", "replicaCount")
    if not isinstance(controllers, Leaf) or not _is_count("replicas", controllers):
        return None
    others = int(brokers.text or 0) if isinstance(brokers, Leaf) and _is_count("replicas", brokers) else 0
    is_apart = (node.text("controller", "controllerOnly") or "").lower() == "true"
    total = others + (0 if is_apart else int(controllers.text or 0))
    return value_of("controller.replicaCount", replace(controllers, text=str(total)), file, COUNT)


def _is_count(key: str, leaf: Leaf) -> bool:
    return key in COUNTS and (leaf.text or "").isdecimal()


def _loop(node: Branch, file: str) -> Value | None:
    """Return how often a task of Ansible runs by its own list, range, or sequence."""
    for key in _LOOPS:
        found = node.get(key)
        if isinstance(found, Row):
            return value_of(key, Leaf(str(len(found.nodes)), found.line), file, COUNT)
        if isinstance(found, Leaf):
            text = found.text or ""
            if (match := _RANGE.search(text)) is not None:
                return value_of(key, Leaf(str(int(match[2]) - int(match[1] or 0)), found.line), file, COUNT)
            if (match := _SEQUENCE.search(text)) is not None:
                return value_of(key, Leaf(match[1], found.line), file, COUNT)
    return None


def _cloud_formation(resources: Branch, file: str) -> Iterator[Counted]:
    """Yield the lines of each task definition of ECS, with the count of the service that runs it."""
    for _, service in resources.entries:
        if not isinstance(service, Branch) or service.text("Type") != "AWS::ECS::Service":
            continue
        task = resources.branch(named_by(service.get("Properties", "TaskDefinition")))
        count = service.get("Properties", "DesiredCount")
        if task is not None and (each := _one_per_node(service.branch("Properties"), file)) is not None:
            yield Counted(task.line, _last_line(task), each)
        elif task is not None and isinstance(count, Leaf) and (count.text or "").isdecimal():
            yield Counted(task.line, _last_line(task), value_of("DesiredCount", count, file, COUNT))


def _of_type(node: Branch, kind: str) -> dict[str, Branch]:
    """Return the resources of a type in a file of Terraform, by name; each has a block of its own."""
    blocks = (block for key, block in node.entries if key == "resource" and isinstance(block, Branch))
    named = (own for block in blocks for key, own in block.entries if key == kind and isinstance(own, Branch))
    return {name: one for own in named for name, one in own.entries if isinstance(one, Branch)}


def _terraform(services: Mapping[str, Branch], tasks: Mapping[str, Branch], file: str) -> Iterator[Counted]:
    """Yield the lines of each task definition of ECS in Terraform, with the count of the service that names it."""
    for service in services.values():
        match = _TASK.search(service.text("task_definition") or "")
        task, count = tasks.get(match[1]) if match else None, service.get("desired_count")
        if task is not None and (each := _one_per_node(service, file)) is not None:
            yield Counted(task.line, _last_line(task), each)
        elif task is not None and isinstance(count, Leaf) and (count.text or "").isdecimal():
            yield Counted(task.line, _last_line(task), value_of("desired_count", count, file, COUNT))


def _one_per_node(service: Branch | None, file: str) -> Value | None:
    """Return the count of a service of ECS that runs on each machine; None for others."""
    found = ((key, service.get(key), word) for key, word in _OF_EACH_NODE.items()) if service is not None else ()
    shown = next(((key, leaf) for key, leaf, word in found if isinstance(leaf, Leaf) and leaf.text == word), None)
    return None if shown is None else value_of(shown[0], replace(shown[1], text=ONE_PER_NODE), file, COUNT)


def knative_count(document: Branch, file: str) -> Value:
    """Return the most processes that Knative starts for a service; without a limit it starts what requests need."""
    annotations = document.branch("spec", "template", "metadata", "annotations") or Branch((), document.line)
    limit = next((annotations.get(name) for name in _KNATIVE_LIMITS if annotations.get(name) is not None), None)
    if isinstance(limit, Leaf) and limit.text != "0":
        return value_of(_KNATIVE_LIMITS[0], limit, file, COUNT)
    return Value(COUNT, ONE_PER_REQUESTS, "kind: Service", Place(file, document.line))


def _last_line(node: Node) -> int:
    if isinstance(node, Leaf):
        return 0 if node.file else node.line + (node.text or "").count("\n")
    children = node.nodes if isinstance(node, Row) else tuple(child for _, child in node.entries)
    return max(node.line, *(_last_line(child) for child in children)) if children else node.line


def counted_around(sources: Iterable[Source], document: Node, file: str) -> list[Source]:
    """Return the sources of a chart's values, or of another tool's file, with the count of the mapping around them."""
    found = list(sources)
    if not any(source.role is not Role.TOPIC and source.instances is None for source in found):
        return found
    counts = sorted(process_counts(document, file), key=lambda one: one.last - one.first)
    if not counts:
        return found

    def around(source: Source) -> Source:
        count = next((one.processes for one in counts if one.first <= source.place.line <= one.last), None)
        is_counted = source.instances is not None or source.role is Role.TOPIC or bool(source.part_of)
        return source if count is None or is_counted else replace(source, instances=count)

    return [counted for source in found if not _is_left_out(counted := around(source))]


def _is_left_out(source: Source) -> bool:
    """Return whether a chart starts none of these brokers; its others, such as combined controllers, are judged."""
    return source.role is Role.BROKER and source.instances is not None and source.instances.text == "0"
