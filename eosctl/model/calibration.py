"""Predictions of capacity formulas beside what a cluster did."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from eosctl.model.capacity_plan import Unit


class TrialProfile(StrEnum):
    """The requests of a trial's transactions: at the level of old or new clients, with or without consumed offsets."""

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
        """Return the level that the clients speak."""
        return 2 if self in (TrialProfile.TV2, TrialProfile.TV2_OFFSETS) else 1


class Trial(msgspec.Struct, frozen=True):
    """A load with known figures: so many ids, each with so many transactions of one record in each of some partitions.

    Attributes:
        name: Names the topic and begins every transactional id.
        profile: The requests.
        id_count: Transactional ids.
        transactions_per_id: Transactions of each, one after the other.
        partitions_per_transaction: Partitions of each transaction; all are led by one broker.
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
        """All transactions."""
        return self.id_count * self.transactions_per_id


class CalibrationRow(msgspec.Struct, frozen=True):
    """One figure: predicted before, measured after.

    `tolerance` is what a prediction may be off, relatively. Where only a range can be told, `predicted` is its lower
    and `at_most` its upper end.
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
        """How far the prediction is off, relative to what was measured; 0 inside a range."""
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
    """What a calibration would do to a cluster: each trial makes a topic with so many partitions for each broker."""

    address: str
    trials: tuple[Trial, ...]
    partitions_per_broker: int
