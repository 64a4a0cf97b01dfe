"""What the files of a deployment were read as: the roles that their keys have shown, and the releases assumed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

import msgspec

from eosctl.model.deployment import ALL_BROKERS, TABULATED, Client, Component, Deployment, Role
from eosctl.model.read_as import ReadAs
from eosctl.model.recovery import is_link
from eosctl.text import release_text

_TITLES: Final[Mapping[Role, str]] = {
    Role.BROKER: "Kafka broker",
    Role.TOPIC: "topic",
    Role.PRODUCER: "producer",
    Role.CONSUMER: "consumer",
    Role.STREAMS: "Kafka Streams application",
    Role.CONNECT_WORKER: "Kafka Connect worker",
    Role.SOURCE_CONNECTOR: "source connector",
    Role.SINK_CONNECTOR: "sink connector",
    Role.MIRROR_MAKER: "MirrorMaker 2",
    Role.FLINK: "Flink job",
    Role.SPRING: "Spring application",
    Role.ACCESS_RULE: "access rule",
}
_PROCESS_ROLES: Final = {
    frozenset({"broker"}): "Kafka broker",
    frozenset({"controller"}): "Kafka controller",
    frozenset({"broker", "controller"}): "Kafka broker and controller",
}


def read_as(deployment: Deployment) -> tuple[ReadAs, ...]:
    """Return what each file was read as, in the order of the files; equal parts of one file are counted.

    Clients inside of a framework are parts of it. Components of a running cluster stand in no file.
    """
    first: dict[tuple[str, ...], ReadAs] = {}
    counts: Counter[tuple[str, ...]] = Counter()
    seen: set[tuple[object, Role]] = set()
    for component in deployment.components:
        if component.others:
            if (component.place, component.role) in seen:
                continue
            seen.update((component.place, role) for role in component.others)
        if component.inside is not None or component.place.line == 0:
            continue
        one = _read(component, deployment)
        key = (one.file, one.title, one.recognized_by, one.release, *one.used)
        first.setdefault(key, one)
        counts[key] += 1
    return tuple(msgspec.structs.replace(one, count=counts[key]) for key, one in first.items())


def _read(component: Component, deployment: Deployment) -> ReadAs:
    table = deployment.table(component)
    is_tabulated = component.client in TABULATED
    return ReadAs(
        file=component.place.file,
        line=component.place.line,
        role=component.role.value,
        title=_title(component),
        recognized_by=component.recognized_by,
        software=component.client.value if not is_tabulated else "Kafka" if table is None else table.software,
        release=release_text(component.release) if is_tabulated else "",
        is_release_assumed=is_tabulated and not component.release_named,
        alternatives=tuple(_TITLES[role] for role in component.others),
        used=_used(component),
    )


def _used(component: Component) -> tuple[str, ...]:
    """Return the other files that a component has values from; that of an environment is in what shows it."""
    values = (*component.given.values(), *filter(None, (component.instances,)))
    files = dict.fromkeys(value.place.file for value in values if value.place is not None)
    own, environment = component.place.file, component.environment.rpartition("/")[2]
    return tuple(file for file in files if file != own and file.rpartition("/")[2] != environment)


def _title(component: Component) -> str:
    if component.client is Client.REDPANDA:
        return "Redpanda broker"
    if component.name == ALL_BROKERS:
        return "defaults of all brokers"
    if component.role is Role.BROKER:
        named = component.word("process.roles") if component.has("process.roles") else None
        return _PROCESS_ROLES.get(frozenset(part.strip() for part in (named or "").split(",")), "Kafka broker")
    if component.role is Role.MIRROR_MAKER and is_link(component):
        return "cluster link"
    client = component.client if component.role in (Role.PRODUCER, Role.CONSUMER) else Client.JAVA
    return _TITLES[component.role] if client is Client.JAVA else f"{client.value} {_TITLES[component.role]}"
