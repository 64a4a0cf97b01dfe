"""The result of a simulated workload."""

from __future__ import annotations

import msgspec


class SimulationSettings(msgspec.Struct, frozen=True):
    """The parameters of a simulation.

    Attributes:
        duration_ms: Simulated time.
        lose_broker_at_ms: Time of a broker's loss; None for never.
        failover_ms: Time from the loss until its partitions have leaders and its coordinators are loaded.
        appends_per_s: Appends per second of one broker.
    """

    duration_ms: float
    lose_broker_at_ms: float | None
    failover_ms: float
    appends_per_s: float


class PhaseLatency(msgspec.Struct, frozen=True):
    """Latencies in milliseconds of the commits called in a phase.

    `commit` is from the call to its response, `visible` from the call until every marker is replicated.
    """

    phase: str
    commit_count: int
    commit_p50_ms: float
    commit_p99_ms: float
    commit_max_ms: float
    visible_p50_ms: float
    visible_p99_ms: float
    visible_max_ms: float


class SimulationReport(msgspec.Struct, frozen=True):
    """The phases of a run.

    `utilisation` is that of the brokers before any loss. `standstill_ms` is the longest time without a transaction
    becoming visible.
    """

    workload: str
    settings: SimulationSettings
    seed: int
    utilisation: float
    standstill_ms: float
    phases: tuple[PhaseLatency, ...]
