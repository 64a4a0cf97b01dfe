"""The report of a run: verdict, coverage, and anomalies with witnesses. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Final, NamedTuple

from eosctl.lab.history.anomaly import Anomaly, Kind
from eosctl.lab.history.coverage import Cell, ClientState, count_meetings
from eosctl.lab.history.cycles import CycleCounts
from eosctl.lab.history.events import History, OffsetsSent
from eosctl.lab.history.parts import check_in_parts
from eosctl.lab.history.summary import Summary, summarize
from eosctl.model.verification import HintItem
from eosctl.text import count_text

#: Kinds caused by an EndTxn request that arrives after the next transaction has started.
_LATE_END: Final = frozenset(
    {Kind.EARLY_READ, Kind.TORN_TRANSACTION, Kind.ABORTED_READ, Kind.BROKEN_SUM, Kind.UNSTABLE_OFFSET}
)
_WITNESSES: Final = 20


class Verdict(Enum):
    """The verdict of a run."""

    CLEAN = "clean"
    ANOMALIES = "anomalies"
    UNDECIDED = "undecided"


class CoverageTable(NamedTuple):
    """How often each fault occurred in each state: a row of `counts` per fault, a column per state."""

    states: tuple[str, ...]
    faults: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    @property
    def cell_count(self) -> int:
        """Return the number of cells."""
        return len(self.states) * len(self.faults)

    @property
    def met_count(self) -> int:
        """Return the number of covered cells."""
        return sum(1 for row in self.counts for count in row if count)


class VerifyReport(NamedTuple):
    """The results computed from the history of a run.

    Attributes:
        verdict: The verdict.
        headline: The verdict as a sentence.
        summary: Statistics of the history.
        coverage: The coverage; None without faults.
        anomalies: The first ones of each kind.
        anomaly_counts: Number of anomalies per kind.
        hints: Possible causes.
        reasons: Why the run is inconclusive, if it is.
        cycles: Dependency cycles; None if no transaction read anything.
    """

    verdict: Verdict
    headline: str
    summary: Summary
    coverage: CoverageTable | None
    anomalies: tuple[Anomaly, ...]
    anomaly_counts: Mapping[str, int]
    hints: tuple[HintItem, ...]
    reasons: tuple[str, ...]
    cycles: CycleCounts | None = None


def judge(
    history: History,
    *,
    fault_kinds: Sequence[str] = (),
    speaks_end_txn_5: bool = False,
    unsettled: Sequence[str] = (),
    min_coverage: float = 0.0,
) -> VerifyReport:
    """Check a history and return the report.

    Args:
        history: The history.
        fault_kinds: The available kinds of faults.
        speaks_end_txn_5: Whether the epoch was bumped with every transaction (TV2).
        unsettled: Activities that had not ended in time.
        min_coverage: The share of combinations of state and fault, 0 to 1, below which the run is inconclusive.
    """
    anomalies, cycles = check_in_parts(history)
    summary = summarize(history)
    counts: dict[str, int] = {}
    for anomaly in anomalies:
        counts[str(anomaly.kind)] = counts.get(str(anomaly.kind), 0) + 1
    reasons = list(unsettled)
    if not summary.committed_count:
        reasons.append("not a single transaction was committed")
    coverage = _coverage(history, fault_kinds)
    if coverage is not None and coverage.met_count < min_coverage * coverage.cell_count:
        reasons.append(
            f"{coverage.met_count} of {coverage.cell_count} combinations of state and fault were met, which is less "
            f"than {min_coverage:.0%}"
        )
    verdict = Verdict.ANOMALIES if anomalies else Verdict.UNDECIDED if reasons else Verdict.CLEAN
    kinds = frozenset(anomaly.kind for anomaly in anomalies)
    return VerifyReport(
        verdict=verdict,
        headline=_headline(verdict, summary, len(anomalies), reasons),
        summary=summary,
        coverage=coverage,
        anomalies=_first_of_each_kind(anomalies),
        anomaly_counts=counts,
        hints=explain_anomalies(kinds, speaks_end_txn_5=speaks_end_txn_5),
        reasons=tuple(reasons),
        cycles=cycles,
    )


def explain_anomalies(kinds: frozenset[Kind], *, speaks_end_txn_5: bool) -> tuple[HintItem, ...]:
    """Return known causes that match the observed kinds of anomalies."""
    hints = []
    if kinds & _LATE_END and not speaks_end_txn_5:
        hints.append(
            HintItem(
                "KAFKA-17754",
                "These clients end transactions with EndTxn version 4 or lower, which carries the same epoch in every "
                "transaction: a late one ends the transaction that has begun since, and part of that transaction "
                "becomes visible or is lost.",
                "Use clients that speak EndTxn 5 (Java 4.0 or later) on a cluster with transaction.version 2; "
                "eosctl doctor names exposed clients.",
            )
        )
    if Kind.HANGING_TRANSACTION in kinds:
        hints.append(
            HintItem(
                "KAFKA-20734",
                "A transaction has ended for its coordinator and is still open in a partition: its marker never came "
                "(4.3 skips partitions without a leader), or a late write opened it again (before TV2).",
                "eosctl txn hanging names it and its cause; run again with --keep to inspect it.",
            )
        )
    if kinds & {Kind.ABORTED_OFFSET, Kind.LOST_OFFSET, Kind.OFFSET_REGRESSION}:
        hints.append(
            HintItem(
                "KAFKA-17507",
                "A group's offsets in transactions were lost or reverted, for example because a restarted coordinator "
                "does not know the pending ones.",
                "eosctl group pending shows the pending offsets; eosctl bugs lists the affected releases.",
            )
        )
    return tuple(hints)


def _headline(verdict: Verdict, summary: Summary, anomaly_count: int, reasons: Sequence[str]) -> str:
    tried = f"{count_text(summary.transaction_count, 'transaction')}, {count_text(summary.fault_count, 'fault')}"
    match verdict:
        case Verdict.CLEAN:
            return f"no anomaly in {tried}; this is evidence, not proof"
        case Verdict.ANOMALIES:
            noun = "anomaly" if anomaly_count == 1 else "anomalies"
            return f"{anomaly_count:,} {noun} in {tried}: this deployment is not exactly-once"
        case Verdict.UNDECIDED:
            return f"no anomaly in {tried}, but this decides nothing: {reasons[0]}"


def _first_of_each_kind(anomalies: Sequence[Anomaly]) -> tuple[Anomaly, ...]:
    shown: dict[Kind, list[Anomaly]] = {}
    for anomaly in anomalies:
        shown.setdefault(anomaly.kind, []).append(anomaly)
    each = max(1, _WITNESSES // max(1, len(shown)))
    return tuple(anomaly for found in shown.values() for anomaly in found[:each])


def _coverage(history: History, fault_kinds: Sequence[str]) -> CoverageTable | None:
    met = count_meetings(history)
    faults = tuple(sorted(set(fault_kinds) | {cell.fault for cell in met}))
    if not faults:
        return None
    # Offsets are pending only if an application sends some.
    states = [
        state
        for state in ClientState
        if state is not ClientState.OFFSETS_PENDING or any(isinstance(event, OffsetsSent) for event in history)
    ]
    return CoverageTable(
        tuple(map(str, states)), faults, tuple(tuple(met.get(Cell(state, f), 0) for state in states) for f in faults)
    )
