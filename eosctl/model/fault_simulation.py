"""The result of fault schedules on simulated clusters."""

from __future__ import annotations

import msgspec


class SeedAnomaly(msgspec.Struct, frozen=True):
    """An anomaly: its kind, its subject, the meaning of the kind, and the events that prove it."""

    kind: str
    subject: str
    meaning: str
    witness: tuple[str, ...]


class FailedSeed(msgspec.Struct, frozen=True):
    """A failed seed, its smallest failing schedule, and options that each make it pass."""

    seed: int
    symptoms: tuple[str, ...]
    stuck: str
    crashes: tuple[str, ...]
    schedule: tuple[str, ...]
    minimised: tuple[str, ...]
    passes_with: tuple[str, ...]
    anomalies: tuple[SeedAnomaly, ...]


class FaultSimulation(msgspec.Struct, frozen=True):
    """A run over many seeds."""

    plan: str
    emulate: str
    transaction_version: int | None
    clients: str
    replica_count: int
    bugs: dict[str, bool]
    first_seed: int
    seed_count: int
    event_count: int
    faults: dict[str, int]
    virtual_s: float
    elapsed_s: float
    cpu_s: float
    schedules_per_minute: float
    schedules_per_cpu_minute: float
    failures: tuple[FailedSeed, ...]
