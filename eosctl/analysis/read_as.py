"""What the files of a deployment were read as: the roles that their keys have shown, and the releases assumed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

import msgspec

from eosctl.analysis.release import release_text
from eosctl.model.deployment import Client, Component, Deployment, Role

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


class ReadAs(msgspec.Struct, frozen=True):
    """What a part of a file was read as.

    Attributes:
        file: The file.
        line: Where the first of these parts begins, from 1.
        role: The component, as ``--role`` names it.
        title: The component, as people call it.
        recognized_by: The key or the part of the file that shows it; empty where only the number of keys does.
        software: Whose releases count: Kafka, or librdkafka.
        release: The release whose defaults and rules hold, e.g. ``4.3``.
        is_release_assumed: Whether neither the user nor the file names the release.
        count: How many parts of the file were read so.
    """

    file: str
    line: int
    role: str
    title: str
    recognized_by: str
    software: str
    release: str
    is_release_assumed: bool
    count: int = 1


def read_as(deployment: Deployment) -> tuple[ReadAs, ...]:
    """Return what each file was read as, in the order of the files; equal parts of one file are counted.

    Clients inside of a framework are parts of it. Components of a running cluster stand in no file.
    """
    first: dict[tuple[str, ...], ReadAs] = {}
    counts: Counter[tuple[str, ...]] = Counter()
    for component in deployment.components:
        if component.inside is not None or component.place.line == 0:
            continue
        one = _read(component, deployment)
        key = (one.file, one.title, one.recognized_by, one.release)
        first.setdefault(key, one)
        counts[key] += 1
    return tuple(msgspec.structs.replace(one, count=counts[key]) for key, one in first.items())


def sentence(one: ReadAs) -> str:
    """Return what a part was read as, as people read it.

    >>> sentence(ReadAs("a", 1, "streams", "Kafka Streams application", "application.id", "Kafka", "4.3", True))
    'Kafka Streams application (application.id), Kafka 4.3 (assumed)'
    """
    shown = one.recognized_by or "by the number of its keys"
    assumed = " (assumed)" if one.is_release_assumed else ""
    times = f", {one.count} times" if one.count > 1 else ""
    return f"{one.title} ({shown}), {one.software} {one.release}{assumed}{times}"


def _read(component: Component, deployment: Deployment) -> ReadAs:
    table = deployment.table(component)
    return ReadAs(
        file=component.place.file,
        line=component.place.line,
        role=component.role.value,
        title=_title(component),
        recognized_by=component.recognized_by,
        software="Kafka" if table is None else table.software,
        release=release_text(component.release),
        is_release_assumed=not component.release_named,
    )


def _title(component: Component) -> str:
    if component.role is Role.BROKER:
        named = component.word("process.roles") if component.has("process.roles") else None
        return _PROCESS_ROLES.get(frozenset(part.strip() for part in (named or "").split(",")), "Kafka broker")
    client = component.client if component.role in (Role.PRODUCER, Role.CONSUMER) else Client.JAVA
    return _TITLES[component.role] if client is Client.JAVA else f"{client.value} {_TITLES[component.role]}"
