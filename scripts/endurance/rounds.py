"""A round of a long run: a verification on a running sandbox, and a check of the resulting files."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.client import connect
from eosctl.client.destinations import Role
from eosctl.collect.data_dirs import inspect_data_dirs
from eosctl.lab.verify.plan import ClientKind, VerifyPlan
from eosctl.lab.verify.play import NemesisKind, Order, play
from eosctl.lab.verify.report import CoverageTable, Verdict, judge
from eosctl.lab.verify.targets import Target
from eosctl.model.fsck import FsckFinding, FsckSeverity
from eosctl.storage.survey import survey_data_dir
from eosctl.storage.throttled_reader import ThrottledReader
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState

#: An overloaded machine may keep a cluster from settling; lost or wrong records are anomalies in any case.
_SETTLE_MS: Final = 120_000
_SECOND_LOOK_S: Final = 2.0
_READ_BYTES_PER_S: Final = 200 << 20


@dataclass(frozen=True, slots=True)
class Work:
    """The parameters of every round.

    Attributes:
        duration_s: How long transactions are started.
        rate_per_s: Transactions per second of each workload.
        nemeses: The nemeses.
        gap_ms: Average pause between two faults.
        seed: Seed of the first round; incremented for each later one.
    """

    duration_s: int
    rate_per_s: float
    nemeses: tuple[NemesisKind, ...]
    gap_ms: int
    seed: int


class FileFinding(NamedTuple):
    """A finding of `fsck` in the data directories: its count, and the first one."""

    severity: FsckSeverity
    kind: str
    times: int
    first: str

    def __str__(self) -> str:
        return f"{self.severity} {self.kind}, {self.times} times: {self.first}"


@dataclass(frozen=True, slots=True)
class Round:
    """The result of a round.

    Attributes:
        verdict: The verdict on the history.
        headline: The verdict as a sentence.
        committed_count: Number of committed transactions.
        fault_count: Number of faults.
        anomaly_counts: Anomalies of the history, by kind.
        reasons: Why the round is inconclusive, if it is.
        findings: Findings in the data directories, without remarks.
        states_met: How often faults occurred in each state of a transaction.
    """

    verdict: Verdict
    headline: str
    committed_count: int
    fault_count: int
    anomaly_counts: tuple[tuple[str, int], ...]
    reasons: tuple[str, ...]
    findings: tuple[FileFinding, ...]
    states_met: Mapping[str, int]

    @property
    def is_wrong(self) -> bool:
        """Return whether the history or the files violate a guarantee."""
        return bool(self.anomaly_counts) or any(found.severity is FsckSeverity.ERROR for found in self.findings)

    def troubles(self) -> list[str]:
        """Return all violations and inconclusive results, one per line; without warnings about files."""
        anomalies = [f"{count} {kind}" for kind, count in self.anomaly_counts]
        errors = [str(found) for found in self.findings if found.severity is FsckSeverity.ERROR]
        return [*anomalies, *self.reasons, *errors]


def warnings_of(rounds: Sequence[Round]) -> list[str]:
    """Return a line for each kind of warning about files, with the number of rounds and the first warning."""
    by_kind: dict[str, list[FileFinding]] = {}
    for done in rounds:
        for found in done.findings:
            if found.severity is FsckSeverity.WARNING:
                by_kind.setdefault(found.kind, []).append(found)
    return [f"{same[0]} (in {len(same)} rounds)" for same in by_kind.values()]


async def play_round(number: int, work: Work, target: Target, data_dirs: Sequence[Path]) -> Round:
    """Run a verification, check the data directories before its topics are deleted, and delete the topics."""
    plan = VerifyPlan(
        prefix=f"round-{number}",
        seed=work.seed + number,
        clients=ClientKind.AUTO,
        duration_ms=work.duration_s * 1_000,
        rate_per_s=work.rate_per_s,
        settle_ms=_SETTLE_MS,
    )
    began = time.monotonic()
    order = Order(plan, work.nemeses, gap_ms=work.gap_ms, keep=True)
    played = await play(
        order,
        target,
        now_ms=lambda: time.time_ns() // 1_000_000,
        elapsed_ms=lambda: int((time.monotonic() - began) * 1_000),
        progress=lambda _: None,
    )
    report = judge(
        played.history,
        fault_kinds=played.record.fault_kinds,
        speaks_end_txn_5=played.record.speaks_end_txn_5,
        unsettled=played.record.unsettled,
    )
    findings = check_files(data_dirs)
    await _remove_topics(target, plan.topics)
    return Round(
        report.verdict,
        report.headline,
        report.summary.committed_count,
        len(played.record.faults) - len(played.record.refused_faults),
        tuple(report.anomaly_counts.items()),
        report.reasons,
        findings,
        _states_met(report.coverage),
    )


def _states_met(coverage: CoverageTable | None) -> dict[str, int]:
    if coverage is None:
        return {}
    return dict(zip(coverage.states, map(sum, zip(*coverage.counts, strict=True)), strict=True))


def check_files(data_dirs: Sequence[Path]) -> tuple[FileFinding, ...]:
    """Check data directories as `eosctl fsck` does, and return the warnings and errors by kind."""
    reader = ThrottledReader(_READ_BYTES_PER_S, time.monotonic, time.sleep)
    surveyed = [survey_data_dir(directory) for directory in data_dirs]
    found = inspect_data_dirs(surveyed, reader.read, lambda: time.sleep(_SECOND_LOOK_S))
    by_kind: dict[tuple[FsckSeverity, str], list[FsckFinding]] = {}
    for finding in found.findings:
        if finding.severity is not FsckSeverity.INFO:
            by_kind.setdefault((finding.severity, finding.kind), []).append(finding)
    return tuple(
        FileFinding(severity, kind, len(same), f"{same[0].directory}/{same[0].file}: {same[0].message}")
        for (severity, kind), same in sorted(by_kind.items())
    )


async def _remove_topics(target: Target, topics: Sequence[str]) -> None:
    async with connect(target.config) as client:
        request = DeleteTopicsRequest(
            topic_names=list(topics),
            topics=[DeleteTopicState(name=topic) for topic in topics],
            timeout_ms=client.config.request_timeout_ms,
        )
        await client.request(Role.CONTROLLER, ApiKey.DELETE_TOPICS, request)
