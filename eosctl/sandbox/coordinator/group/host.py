"""The parts of a broker that the group coordinator uses."""

from __future__ import annotations

from typing import Protocol

from eosctl.sandbox.ports import BrokerConfig, Emulation, MetadataView, Replicas, Runtime, TransactionHooks


class GroupHost(Protocol):
    """The parts of a broker that the group coordinator uses."""

    @property
    def runtime(self) -> Runtime:
        """Return the broker's time, timers, and randomness."""

    @property
    def config(self) -> BrokerConfig:
        """Return the broker's settings."""

    @property
    def emulation(self) -> Emulation:
        """Return the emulated Kafka release."""

    @property
    def metadata(self) -> MetadataView:
        """Return the cluster metadata of this broker."""

    @property
    def replicas(self) -> Replicas:
        """Return the partitions of this broker."""

    @property
    def verification(self) -> TransactionHooks:
        """Return the verification of partitions with the transaction coordinators (KIP-890)."""
