"""Predictions of capacity formulas, compared with a cluster's behavior."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from eosctl.model.capacity_plan import Unit


class TrialProfile(StrEnum):
    """The requests of a trial's transactions: protocol level, with or without consumed offsets."""

    TV1 = "tv1"
    TV2 = "tv2"
    TV1_OFFSETS = "tv1-offsets"
    TV2_OFFSETS = "tv2-offsets"

    @property
    def commits_offsets(self) -> bool:
        """Return whether offsets are committed in the transactions."""
        return self in (TrialProfile.TV1_OFFSETS, TrialProfile.TV2_OFFSETS)

    @property
    def transaction_version(self) -> int:
        """Return the protocol level of the clients."""
        return 2 if self in (TrialProfile.TV2, TrialProfile.TV2_OFFSETS) else 1


class Trial(msgspec.Struct, frozen=True):
    """A known load: `id_count` ids, each with `transactions_per_id` transactions of one record per partition.

    Attributes:
        name: Name of the topic, and prefix of every transactional id.
        profile: The requests.
        id_count: Number of transactional ids.
        transactions_per_id: Consecutive transactions of each id.
        partitions_per_transaction: Partitions of each transaction, all led by one broker.
        value_bytes: Size of each record's value; records have no keys.
    """

    name: str
    profile: TrialProfile
    id_count: int
    transactions_per_id: int
    partitions_per_transaction: int
    value_bytes: int

    @property
    def transaction_count(self) -> int:
        """Return the total number of transactions."""
        return self.id_count * self.transactions_per_id


class CalibrationRow(msgspec.Struct, frozen=True):
    """A predicted and a measured figure.

    `tolerance` is the allowed relative error of the prediction. For a range, `predicted` is its lower and `at_most` its
    upper end.
    """

    trial: str
    figure: str
    unit: Unit
    predicted: float
    measured: float
    tolerance: float
    at_most: float | None = None

    @property
    def error(self) -> float:
        """Return the error of the prediction relative to the measured value; 0 inside a range."""
        if self.at_most is not None and self.predicted <= self.measured <= self.at_most:
            return 0.0
        if self.at_most is not None and self.measured > self.at_most:
            return self.at_most / self.measured - 1
        if not self.measured:
            return 0.0 if not self.predicted else float("inf")
        return self.predicted / self.measured - 1

    @property
    def holds(self) -> bool:
        """Return whether the prediction is within its tolerance."""
        return abs(self.error) <= self.tolerance


class CalibrationPlan(msgspec.Struct, frozen=True):
    """The plan of a calibration; each trial creates a topic with this many partitions per broker."""

    address: str
    trials: tuple[Trial, ...]
    partitions_per_broker: int
