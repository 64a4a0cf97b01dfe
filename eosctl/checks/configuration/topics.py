"""Which topics a client reads or writes, where a file names them."""

from __future__ import annotations

from typing import Final

from eosctl.checks.configuration.broker_clusters import folder_of
from eosctl.model.deployment import Component, Deployment, Role

_NAMES: Final = ("topic", "topics", "topic_id", "topic.name")


def topics_of(deployment: Deployment, client: Component) -> frozenset[str]:
    """Return the topics of a client; nothing where no file names them."""
    around = deployment.beside(client, Role.FLINK)[:1] if client.inside is Role.FLINK else ()
    found = (one.word(name) for one in (client, *around) for name in _NAMES if one.has(name))
    return frozenset(
        part.strip() for text in found if text for part in text.replace(";", ",").split(",") if part.strip()
    )


def are_related(deployment: Deployment, writer: Component, reader: Component) -> bool:
    """Tell whether a reader may read what a writer writes: by a topic in common, else by the folder of their files."""
    written, read = topics_of(deployment, writer), topics_of(deployment, reader)
    if written and read:
        return bool(written & read)
    if reader.role is Role.SINK_CONNECTOR:
        return False
    return folder_of(writer) == folder_of(reader)
