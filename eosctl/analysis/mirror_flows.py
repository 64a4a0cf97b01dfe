"""Flows of MirrorMaker 2, and the spellings of settings that reach the clients of a flow.

A dedicated MirrorMaker builds the settings of a flow's connector from a few keys of mm2.properties and drops others
silently; the clients of the target alone receive those under its alias (`MirrorMakerConfig.connectorBaseConfig`,
`MirrorConnectorConfig.sourceConsumerConfig`). Kafka 2.8.2, 3.9.1, 3.9.2, 4.0.0 to 4.3.0, and 4.3.1 agree;
`tests/fixtures/configs/mirror-spellings.json` is what they answered.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from eosctl.model.deployment import Component, Deployment, Role, Value

_CONNECTOR: Final = ("source.consumer.", "consumer.")
"""Prefixes of the source's consumer in the settings of a connector, strongest first."""
LEVEL: Final = "isolation.level"
_SUPPORT: Final = "exactly.once.source.support"


class Flow(NamedTuple):
    """Records from one cluster to another. Both names are empty where a connector does not give them."""

    mirror: Component
    source: str
    target: str

    @property
    def is_dedicated(self) -> bool:
        """Return whether a dedicated MirrorMaker (`mm2.properties`) runs it, not a connector."""
        return is_dedicated(self.mirror)

    def source_consumer(self, setting: str) -> Value | None:
        """Return the given value of a setting that reaches the consumer of the source cluster."""
        return next((self.mirror.given[key] for key in self.consumer_keys(setting) if key in self.mirror.given), None)

    def consumer_keys(self, setting: str) -> tuple[str, ...]:
        """Return the keys that reach the consumer of the source cluster, strongest first."""
        if not self.is_dedicated:
            return tuple(f"{prefix}{setting}" for prefix in _CONNECTOR)
        flow = f"{self.source}->{self.target}"
        return f"{flow}.source.consumer.{setting}", f"{self.source}.consumer.{setting}", f"{flow}.consumer.{setting}"

    def advised_key(self, setting: str) -> str:
        """Return the key to write for a setting of the source's consumer."""
        return f"{self.source}.consumer.{setting}" if self.is_dedicated else f"source.consumer.{setting}"

    def support(self) -> Value | None:
        """Return the given value that switches exactly-once on for this flow: the target's, or the connector's."""
        name = f"{self.target}.{_SUPPORT}" if self.is_dedicated else "exactly.once.support"
        return self.mirror.given.get(name)

    def is_exactly_once(self) -> bool:
        """Return whether the flow writes with transactions."""
        support = self.support()
        return support is not None and (support.word or "").lower() in ("enabled", "required")


def is_dedicated(mirror: Component) -> bool:
    """Return whether settings are those of mm2.properties rather than of a connector."""
    return mirror.role is Role.MIRROR_MAKER and any("->" in key or key == "clusters" for key in mirror.given)


def mirrors(deployment: Deployment) -> tuple[Component, ...]:
    """Return MirrorMaker's configurations, those of its source connectors included."""
    connectors = (c for c in deployment.of(Role.SOURCE_CONNECTOR) if _copies_records(c))
    return (*deployment.of(Role.MIRROR_MAKER), *connectors)


def flows_of(mirror: Component) -> tuple[Flow, ...]:
    """Return the flows that a configuration enables; none where it only describes clusters."""
    if not is_dedicated(mirror):
        source, target = (mirror.word(f"{end}.cluster.alias") or "" for end in ("source", "target"))
        return (Flow(mirror, source, target),)
    return tuple(
        Flow(mirror, source, target)
        for source, target in _pairs(mirror)
        if (enabled := mirror.given.get(f"{source}->{target}.enabled")) and enabled.flag is True
    )


def without_effect(mirror: Component, setting: str = LEVEL) -> tuple[Value, ...]:
    """Return the given values of a setting whose spelling reaches the source's consumer of no enabled flow."""
    reaching = {key for flow in flows_of(mirror) for key in flow.consumer_keys(setting)}
    return tuple(
        value
        for key, value in mirror.given.items()
        if (key == setting or key.endswith(f".{setting}")) and key not in reaching
    )


def support_without_effect(mirror: Component) -> tuple[Value, ...]:
    """Return the given values of exactly-once support that a dedicated MirrorMaker drops.

    Only the name of a cluster before the setting reaches the workers that write to it
    (`MirrorMakerConfig.workerConfig`): the setting alone and a flow's (`us->eu.`) reach none. That of a cluster to
    which no flow copies has no effect either, and is returned while a flow goes without.
    """
    if not is_dedicated(mirror):
        return ()
    flows = flows_of(mirror)
    heard = {alias.strip() for alias in (mirror.word("clusters") or "").split(",")}
    heard |= {end for pair in _pairs(mirror) for end in pair}
    if not all(flow.is_exactly_once() for flow in flows):
        heard = {flow.target for flow in flows}
    return tuple(
        value
        for key, value in mirror.given.items()
        if key == _SUPPORT or (key.endswith(f".{_SUPPORT}") and key.removesuffix(f".{_SUPPORT}") not in heard)
    )


def _pairs(mirror: Component) -> Iterator[tuple[str, str]]:
    """Yield each pair of clusters for which a key of its flow is written, each once."""
    seen: set[tuple[str, str]] = set()
    for key in mirror.given:
        source, arrow, rest = key.partition("->")
        target = rest.partition(".")[0]
        if arrow and target and (source, target) not in seen:
            seen.add((source, target))
            yield source, target


def _copies_records(connector: Component) -> bool:
    return (connector.word("connector.class") or "").endswith("MirrorSourceConnector")
