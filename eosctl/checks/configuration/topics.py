"""The topics that clients read and write, where a file names them."""

from __future__ import annotations

import re
from typing import Final

from eosctl.model.deployment import Component, Deployment, Role

_NAMES: Final = ("topic", "topics", "topic_id", "topic.name")
_OUTPUT: Final = re.compile(
    r"(?:topics?|output|out|target|sink)[._-]?(?:out|output|topics?|target|name)", re.IGNORECASE
)
"""What applications call the topics that they write to."""


def topics_of(deployment: Deployment, client: Component) -> frozenset[str]:
    """Return the topics of a client; nothing where no file names them."""
    owner = client.inside if client.inside in (Role.FLINK, Role.SINK_CONNECTOR) else None
    around = deployment.same_application(client, owner)[:1] if owner else ()
    found = [one.word(name) for one in (client, *around) for name in _NAMES]
    if client.role is Role.PRODUCER:
        found += [client.word(name) for name in client.given if _OUTPUT.fullmatch(name)]
    return frozenset(
        part.strip() for text in found if text for part in text.replace(";", ",").split(",") if part.strip()
    )
