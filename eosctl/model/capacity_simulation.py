"""What a simulated run of a workload showed."""

from __future__ import annotations

import msgspec


class SimulationSettings(msgspec.Struct, frozen=True):
    """How to simulate.

    Attributes:
        duration_ms: Simulated time.
        lose_broker_at_ms: When one broker is lost; None for never.
        failover_ms: From the loss until its partitions have leaders and its coordinators are loaded.
        appends_per_s: What one broker appends.
    """

    duration_ms: float
    lose_broker_at_ms: float | None
    failover_ms: float
    appends_per_s: float


class PhaseLatency(msgspec.Struct, frozen=True):
    """Latencies of the commits that were called in one phase, in ms.

    ``commit`` is from the call to its answer, ``visible`` from the call until every marker is replicated.
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

    ``utilisation`` is of the brokers before any loss. ``standstill_ms`` is the longest time in which no transaction
    became visible.
    """

    workload: str
    settings: SimulationSettings
    seed: int
    utilisation: float
    standstill_ms: float
    phases: tuple[PhaseLatency, ...]
