"""What the group coordinator needs of the broker that it runs in."""

from __future__ import annotations

from typing import Protocol

from eosctl.sandbox.ports import BrokerConfig, Emulation, MetadataView, Replicas, Runtime, TransactionHooks


class GroupHost(Protocol):
    """The parts of a broker that the group coordinator uses."""

    @property
    def runtime(self) -> Runtime:
        """Time, timers and chance."""

    @property
    def config(self) -> BrokerConfig:
        """Return the broker's settings."""

    @property
    def emulation(self) -> Emulation:
        """Return the release of Kafka to behave as."""

    @property
    def metadata(self) -> MetadataView:
        """Return the cluster as this broker knows it."""

    @property
    def replicas(self) -> Replicas:
        """Return the partitions of this broker."""

    @property
    def verification(self) -> TransactionHooks:
        """Who asks the transaction coordinators about partitions (KIP-890)."""
