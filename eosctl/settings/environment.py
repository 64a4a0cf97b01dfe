"""Environment variables of containers and of ``.env`` files: what they configure, and of which release."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Client, Place, Role, Value
from eosctl.settings.sources import Source, value_of
from eosctl.settings.tree import Branch, Leaf, Node, Row

_IMAGE: Final = re.compile(r"(?P<name>[\w./-]*(?:kafka|connect)[\w.-]*):v?(?P<version>\d+\.\d+)")
_CONFLUENT: Final = {"7.0": "3.0", "7.1": "3.1", "7.2": "3.2", "7.3": "3.3", "7.4": "3.4", "7.5": "3.5", "7.6": "3.6"}
_CONFLUENT_LATER: Final = {"7.7": "3.7", "7.8": "3.8", "7.9": "3.9", "8.0": "4.0", "8.1": "4.1", "8.2": "4.2"}
# Environment variables of images: prefix, role, and what is left out because it is no setting.
_ENVIRONMENTS: Final = (
    ("KAFKA_CFG_", Role.BROKER),
    ("KAFKA_CONNECT_CFG_", Role.CONNECT_WORKER),
    ("CONNECT_", Role.CONNECT_WORKER),
    ("KSQL_KSQL_STREAMS_", Role.STREAMS),
    ("KAFKA_", Role.BROKER),
)

# What people give the script of a broker's image where a container runs tools alone.
_NO_BROKER: Final = "ignored"
_STREAMS_VARIABLE: Final = re.compile(r"^(?:[A-Z0-9]+_)*?STREAMS?_(?:PROPERTIES_|CONFIG_)?(?P<name>[A-Z0-9_]+)$")
CLIENT_ROLES: Final = (Role.PRODUCER, Role.CONSUMER, Role.STREAMS)
_CLIENT_PREFIX: Final = re.compile(r"^(?:producer|consumer|streams)\.")


def container_environment(node: Node | None, image: str, name: str, file: str) -> list[Source]:
    """Read ``environment`` as Compose writes it (a mapping or NAME=VALUE) and ``env`` as Kubernetes does."""
    pairs: list[tuple[str, Leaf]] = []
    if isinstance(node, Branch):
        pairs = [(key, leaf) for key, leaf in node.entries if isinstance(leaf, Leaf)]
    elif isinstance(node, Row):
        for member in node.nodes:
            if isinstance(member, Leaf) and member.text and "=" in member.text:
                key, _, text = member.text.partition("=")
                pairs.append((key, Leaf(text, member.line)))
            elif isinstance(member, Branch) and (key := member.text("name") or ""):
                value = member.get("value")
                if isinstance(value, Leaf):
                    pairs.append((key, value))
    return variables_of(pairs, image, name, file)


def environment_of(node: Node, file: str, hints: tuple[str, ...]) -> list[Source]:
    """Return what the variables of a chart's or a tool's own ``env`` key configure."""
    found = container_environment(node, "", "", file)
    return [replace(source, hints=(*source.hints, *hints)) for source in found]


def variables_of(pairs: Iterable[tuple[str, Leaf]], image: str, name: str, file: str) -> list[Source]:
    """Return what variables configure, by the conventions of images and frameworks.

    Args:
        pairs: Names and values.
        image: The image of the container; empty where it is not known.
        name: The container, the service, or the resource.
        file: The file's name.
    """
    given = list(pairs)
    version = _version_of(image)
    if any(key.upper().startswith(("SPRING_KAFKA_", "SPRING_CLOUD_STREAM_")) for key, _ in given):
        values = {_spring_name(key): value_of(key, leaf, file, _spring_name(key)) for key, leaf in given}
        place, shown = Place(file, given[0][1].line), next(key for key, _ in given if key.upper().startswith("SPRING_"))
        return [Source(place, values, name, Role.SPRING, hints=(name,), recognized_by=shown)]
    if any(key.upper().startswith("MP_MESSAGING_") for key, _ in given):
        values = {_spring_name(key): value_of(key, leaf, file, _spring_name(key)) for key, leaf in given}
        return [Source(Place(file, given[0][1].line), values, name, hints=(name.lower(),))]
    by_role: dict[Role, dict[str, Value]] = {}
    if any(leaf.text == _NO_BROKER for _, leaf in given):
        return []
    streams = _streams_variables(given, file)
    for key, leaf in given:
        if any(value.key == key for value in streams.values()):
            continue
        for prefix, role in _ENVIRONMENTS:
            if key.startswith(prefix) and len(key) > len(prefix):
                setting = setting_of(key[len(prefix) :])
                by_role.setdefault(role, {})[setting] = value_of(key, leaf, file, setting)
                break
    if streams:
        # One application: its variables without the prefix are those that brokers do not have.
        if Role.BROKER in by_role and _is_application(by_role[Role.BROKER]):
            streams = {**by_role.pop(Role.BROKER), **streams}
        by_role[Role.STREAMS] = {**by_role.get(Role.STREAMS, {}), **streams}
    return [
        Source(
            min(v.place for v in values.values() if v.place),
            values,
            name,
            None if role is Role.BROKER and _is_clients(values) else role,
            None if role is Role.BROKER and _is_clients(values) else Client.JAVA,
            version,
            (name.lower(), image.lower()),
            recognized_by=next(iter(values.values())).key,
        )
        for role, values in by_role.items()
    ]


def _streams_variables(given: Iterable[tuple[str, Leaf]], file: str) -> dict[str, Value]:
    """Return the variables of a Streams application by their setting: ``APP_STREAMS_COMMIT_INTERVAL_MS``."""
    tables = load_tables()
    clients = {name for role in CLIENT_ROLES for name in tables[role.value].parameters}
    found: dict[str, Value] = {}
    for key, leaf in given:
        match = _STREAMS_VARIABLE.match(key)
        setting = setting_of(match["name"]) if match and not key.startswith("KSQL_") else ""
        if setting in tables[Role.STREAMS.value].parameters or _CLIENT_PREFIX.sub("", setting) in clients:
            found[setting] = value_of(key, leaf, file, setting)
    return found


def _is_application(names: Iterable[str]) -> bool:
    """Return whether no variable is one that brokers alone have."""
    tables = load_tables()
    clients = {name for role in CLIENT_ROLES for name in tables[role.value].parameters}
    return not set(names) & (tables["broker"].parameters.keys() - clients)


def _is_clients(names: Iterable[str]) -> bool:
    """Tell whether ``KAFKA_`` variables are those of an application: clients know some of them, brokers none alone."""
    tables = load_tables()
    brokers = tables["broker"].parameters.keys()
    clients = {name for role in CLIENT_ROLES for name in tables[role.value].parameters}
    plain = {_CLIENT_PREFIX.sub("", name) for name in names}
    return bool(plain & (clients - brokers)) and not plain & (brokers - clients)


def setting_of(text: str) -> str:
    """Turn ``TRANSACTION_STATE_LOG_MIN_ISR`` into the setting; ``__`` stands for ``_`` and ``___`` for ``-``."""
    return re.sub(r"_+", lambda m: {1: ".", 2: "_", 3: "-"}.get(len(m[0]), "."), text.lower())


def _spring_name(text: str) -> str:
    return text.lower().replace("_", ".")


def _version_of(image: str) -> str:
    found = _IMAGE.search(image)
    if found is None:
        return ""
    version = found["version"]
    if "confluent" in found["name"] or "cp-" in found["name"]:
        return {**_CONFLUENT, **_CONFLUENT_LATER}.get(version, "")
    # Strimzi writes its own version first and Kafka's last: kafka:0.45.0-kafka-3.9.0.
    later = re.search(r"kafka-(\d+\.\d+)", image)
    return later[1] if later else version
