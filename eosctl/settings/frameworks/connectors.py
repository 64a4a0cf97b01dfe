"""Connectors: sinks and sources, and the bodies of Connect's REST API."""

from __future__ import annotations

import re
from typing import Final

from eosctl.model.deployment import Client, Place, Role
from eosctl.settings.formats.tree import Branch, Leaf, flatten
from eosctl.settings.values.sources import Source, value_of, values_of

_CLASS: Final = re.compile(r"(?:^|\.)\w*Connector\w*$|\.kafka\.connect\.")


def connector_role(class_name: str, has_topics: bool) -> Role:
    """Return whether a connector is a sink or a source: by its class name, or by ``topics``, which only sinks need."""
    lower = class_name.lower()
    if "sink" in lower:
        return Role.SINK_CONNECTOR
    if "source" in lower or "debezium" in lower or "mirror" in lower:
        return Role.SOURCE_CONNECTOR
    return Role.SINK_CONNECTOR if has_topics else Role.SOURCE_CONNECTOR


def connect_rest(document: Branch, file: str) -> list[Source] | None:
    """Read the body of POST /connectors, or of PUT /connectors/NAME/config."""
    config = document.branch("config")
    name = document.text("name") or ""
    if config is not None and config.text("connector.class") is None:
        config = None
    body = config or (document if document.text("connector.class") is not None else None)
    if body is None:
        return None
    values = values_of(flatten(body), file)
    has_topics = "topics" in values or "topics.regex" in values
    role = connector_role(values["connector.class"].text or "", has_topics)
    place = Place(file, body.line)
    return [Source(place, values, name, role, Client.JAVA, recognized_by="connector.class")]


def connector_of_chart(node: Branch, file: str) -> Source | None:
    """Return the connector that a mapping describes as Strimzi's resource does: ``class``, ``tasksMax``, ``config``.

    The values of charts, and files of other tools, have lists of such mappings.
    """
    named, config = node.get("class"), node.branch("config")
    if not isinstance(named, Leaf) or config is None or config.get("connector.class") is not None:
        return None
    if _CLASS.search(named.text or "") is None:
        return None
    values = values_of(flatten(config), file) | {"connector.class": value_of("class", named, file, "connector.class")}
    if isinstance(tasks := node.get("tasksMax"), Leaf):
        values["tasks.max"] = value_of("tasksMax", tasks, file, "tasks.max")
    role = connector_role(named.text or "", "topics" in values or "topics.regex" in values)
    label = node.text("name") or ""
    return Source(Place(file, node.line), values, label, role, Client.JAVA, recognized_by="class")
