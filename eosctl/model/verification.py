"""The result of a verification, of a test of an application, and of a canary, as programs read it."""

from __future__ import annotations

import msgspec


class WitnessItem(msgspec.Struct, frozen=True):
    """One event of a witness: what a client did or saw, `at_ms` after the run began."""

    at_ms: int
    actor: str
    event: str
    detail: str


class VerifiedAnomalyItem(msgspec.Struct, frozen=True):
    """A violation: its kind, what it is about, what the kind means, and the few events that prove it."""

    kind: str
    subject: str
    meaning: str
    witness: tuple[WitnessItem, ...]


class SpanItem(msgspec.Struct, frozen=True):
    """Commits while a kind of fault lasted, or while none did.

    Attributes:
        condition: The kind of fault, `no fault`, or `whole run`.
        length_ms: How long it lasted in all.
        committed_count: Commits that were acknowledged in it.
        failed_count: Transactions that ended in it without a known result, although their commit was requested.
        p50_ms: The median time from the request of a commit to its answer; None without any answer.
        p99_ms: The 99th percentile.
        max_ms: The longest.
        availability: The share of its seconds in which a commit was acknowledged, 0 to 1; None without any second.
    """

    condition: str
    length_ms: int
    committed_count: int
    failed_count: int
    p50_ms: float | None
    p99_ms: float | None
    max_ms: float | None
    availability: float | None


class CoverageItem(msgspec.Struct, frozen=True):
    """How often each fault coincided with each state: a row of `counts` per fault, a column per state."""

    states: tuple[str, ...]
    faults: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    met_count: int
    cell_count: int


class CyclesItem(msgspec.Struct, frozen=True):
    """Components of transactions that depend on each other in circles."""

    g0_count: int
    g1c_count: int
    g_single_count: int


class HintItem(msgspec.Struct, frozen=True):
    """What may be behind the anomalies."""

    bug_id: str
    text: str
    next_step: str


class VerifyItem(msgspec.Struct, frozen=True):
    """A run and what it has shown."""

    run_id: str
    verdict: str
    headline: str
    cluster: str
    cluster_id: str
    clients: str
    workloads: tuple[str, ...]
    seed: int
    duration_ms: int
    began_at: str
    transaction_count: int
    committed_count: int
    aborted_count: int
    unknown_count: int
    sent_count: int
    read_count: int
    fault_count: int
    faults: tuple[str, ...]
    refused_faults: tuple[str, ...]
    reasons: tuple[str, ...]
    left_topics: tuple[str, ...]
    spans: tuple[SpanItem, ...]
    coverage: CoverageItem | None
    anomaly_counts: dict[str, int]
    anomalies: tuple[VerifiedAnomalyItem, ...]
    hints: tuple[HintItem, ...]
    cycles: CyclesItem | None


class AppItem(msgspec.Struct, frozen=True):
    """The test of an application and what it has shown; latencies are from writing an input to seeing its output."""

    run: str
    verdict: str
    headline: str
    cluster_id: str
    input: str
    output: str
    dead_letters: str
    groups: tuple[str, ...]
    seed: int
    began_at: str
    input_count: int
    committed_count: int
    aborted_count: int
    unknown_count: int
    poison_count: int
    output_count: int
    dead_letter_count: int
    p50_ms: float | None
    p99_ms: float | None
    reasons: tuple[str, ...]
    anomaly_counts: dict[str, int]
    anomalies: tuple[VerifiedAnomalyItem, ...]


class CanaryItem(msgspec.Struct, frozen=True):
    """What a canary has counted since it began; latencies are from a commit to its visibility."""

    verdict: str
    round_count: int
    outcomes: dict[str, int]
    p50_ms: float
    p99_ms: float
    max_ms: float
    anomaly_counts: dict[str, int]
    anomalies: tuple[VerifiedAnomalyItem, ...]
