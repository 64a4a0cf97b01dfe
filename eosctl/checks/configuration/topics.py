"""The topics that clients read and write, where a file names them."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from eosctl.model.deployment import Component, Deployment, Role

_NAMES: Final = ("topic", "topics", "topic_id", "topic.name")
_OUTPUT: Final = re.compile(
    r"(?:topics?|output|out|target|sink)[._-]?(?:out|output|topics?|target|name)", re.IGNORECASE
)
"""What applications call the topics of a producer, among its settings."""
_WORD: Final = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+(?![a-z])")
_READ: Final = frozenset(
    {
        *("in", "input", "inputs", "inbound", "incoming", "source", "sources", "src", "from", "read", "reads"),
        *("consume", "consumes", "consumed", "consumer", "consumers", "subscribe", "subscriptions", "listen"),
        *("listener", "listeners", "listens", "subscribes", "ingest"),
    }
)
"""Words of applications for what they read."""
_WRITTEN: Final = frozenset(
    {
        *("out", "output", "outputs", "outbound", "outgoing", "sink", "sinks", "target", "targets", "dest"),
        *("write", "writes", "produce", "produces", "publishes", "producer", "producers", "publish"),
        *("publisher", "emit", "result", "results", "outbox"),
    }
)
"""Words of applications for what they write."""


class Topics(NamedTuple):
    """Topics of a client: those that are certainly its own, and those that its application names without a direction.

    Attributes:
        own: What it reads or writes by its settings, or by the words around the name.
        named: What its application names, for one client or another.
    """

    own: frozenset[str]
    named: frozenset[str]

    @property
    def likely(self) -> frozenset[str]:
        """Return its own topics, or else all that it may have."""
        return self.own or self.named


def topics_of(deployment: Deployment, client: Component) -> Topics:
    """Return the topics of a client; nothing where no file names them."""
    owner = client.inside if client.inside in (Role.FLINK, Role.SINK_CONNECTOR) else None
    around = deployment.same_application(client, owner)[:1] if owner else ()
    found = [one.word(name) for one in (client, *around) for name in _NAMES]
    is_producer = client.role is Role.PRODUCER
    words, others = (_WRITTEN, _READ) if is_producer else (_READ, _WRITTEN)
    if is_producer:
        found += [client.word(name) for name in client.given if _OUTPUT.fullmatch(name)]
    named: list[str | None] = []
    for value in client.topics:
        around_it = frozenset(word.lower() for word in _WORD.findall(value.key))
        if around_it & words and not around_it & others:
            found.append(value.text)
        elif not around_it & others:
            named.append(value.text)
    own = _split(found)
    return Topics(own, _split(named) - own)


def _split(texts: list[str | None]) -> frozenset[str]:
    return frozenset(
        part.strip() for text in texts if text for part in text.replace(";", ",").split(",") if part.strip()
    )
