"""Load the tables of settings that are shipped (``settings/*.json``): ``make absorb`` and scripts write them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Final

import msgspec

from eosctl.model.parameter import Parameter, ParameterTable, Release, Span, relaxed

COMPONENTS: Final = (
    "broker",
    "topic",
    "producer",
    "consumer",
    "streams",
    "connect-worker",
    "source-connector",
    "sink-connector",
    "mirror-maker",
    "librdkafka",
)
ONLY_EXPLAINED: Final = ("group", "admin")
"""Components of Kafka that no configuration file is read as."""
PYTHON_CLIENTS: Final = ("kafka-python", "aiokafka")
"""Whose tables hold keyword arguments, under the names that Kafka has for them."""
FRAMEWORKS: Final = ("spring", "flink")
"""Whose tables hold their own settings, and go by their own releases."""
SPRING_PREFIX: Final = "spring.kafka."
_JAVA_CLIENTS: Final = ("producer", "consumer")


@cache
def load_tables() -> Mapping[str, ParameterTable]:
    """Return every table by component; read once."""
    folder = resources.files("eosctl.knowledge") / "settings"
    names = (*COMPONENTS, *ONLY_EXPLAINED, *PYTHON_CLIENTS, *FRAMEWORKS)
    raw = {name: msgspec.json.decode((folder / f"{name}.json").read_bytes()) for name in names}
    tables = {name: _table(name, raw[name]) for name in names}
    tables["librdkafka"] = _with_java_names(tables["librdkafka"], tables)
    return tables


def kafka_tables() -> Mapping[str, ParameterTable]:
    """Return the tables of what belongs to Kafka itself and of librdkafka."""
    return {name: table for name, table in load_tables().items() if name in COMPONENTS}


@cache
def java_names() -> frozenset[str]:
    """Return the names of all settings of Kafka itself."""
    return frozenset(n for name, table in kafka_tables().items() if name != "librdkafka" for n in table.parameters)


@cache
def only_librdkafka() -> frozenset[str]:
    """Return the names that librdkafka has and Kafka has not."""
    return frozenset(load_tables()["librdkafka"].parameters) - java_names()


def parse_release(text: str) -> Release:
    """Parse ``3.9``, ``3.9.1``, ``v4.0`` or ``4.3-IV0``.

    Raises:
        ValueError: The text does not begin with major and minor number.
    """
    head = text.strip().removeprefix("v").split("-")[0].split(".")
    if len(head) < 2:
        raise ValueError(text)
    return int(head[0]), int(head[1])


def _table(component: str, raw: dict[str, Any]) -> ParameterTable:
    parameters = {name: _parameter(name, body) for name, body in raw["settings"].items()}
    aliases = {relaxed(name.removeprefix(SPRING_PREFIX)): name for name in parameters} if component == "spring" else {}
    software = raw.get("software", "Kafka")
    first, last = parse_release(raw["first"]), parse_release(raw["last"])
    return ParameterTable(
        component=component, first=first, last=last, parameters=parameters, aliases=aliases, software=software
    )


def _parameter(name: str, body: dict[str, Any]) -> Parameter:
    spans = tuple(
        Span(
            parse_release(s["since"]),
            s["default"],
            s.get("bounds", ""),
            s.get("required", False),
            s.get("absent", False),
        )
        for s in body["spans"]
    )
    removed = body.get("removed")
    return Parameter(
        name=name,
        type=body["type"],
        spans=spans,
        removed=parse_release(removed) if removed else None,
        alias=body.get("alias", ""),
        only=body.get("only", ""),
    )


def _with_java_names(table: ParameterTable, tables: Mapping[str, ParameterTable]) -> ParameterTable:
    """Use the name that Java clients share as the setting's name, even if librdkafka calls it the alias."""
    java = {name for component in _JAVA_CLIENTS for name in tables[component].parameters}
    aliases: dict[str, str] = {}
    parameters = dict(table.parameters)
    for parameter in table.parameters.values():
        if not parameter.alias:
            continue
        if parameter.name in java and parameter.alias not in java:
            aliases[parameter.alias] = parameter.name
            parameters[parameter.name] = _renamed(parameter, "")
            other = table.parameters.get(parameter.alias)
            if other is not None:
                parameters[other.name] = _renamed(other, parameter.name)
        else:
            aliases[parameter.name] = parameter.alias
    return ParameterTable(
        component=table.component,
        first=table.first,
        last=table.last,
        parameters=parameters,
        aliases=aliases,
        software=table.software,
    )


def _renamed(parameter: Parameter, alias: str) -> Parameter:
    return Parameter(
        name=parameter.name,
        type=parameter.type,
        spans=parameter.spans,
        removed=parameter.removed,
        alias=alias,
        only=parameter.only,
    )
