"""One round of a long run: a verification on a sandbox that goes on running, and the files that the round has left."""

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

#: A busy machine may keep a cluster from coming to rest; what is lost or wrong is an anomaly all the same.
_SETTLE_MS: Final = 120_000
_SECOND_LOOK_S: Final = 2.0
_READ_BYTES_PER_S: Final = 200 << 20


@dataclass(frozen=True, slots=True)
class Work:
    """What every round does.

    Attributes:
        duration_s: How long transactions are begun.
        rate_per_s: Transactions per second of each workload.
        nemeses: Who disturbs it.
        gap_ms: Pause between two faults, on average.
        seed: Of the first round; later ones count on.
    """

    duration_s: int
    rate_per_s: float
    nemeses: tuple[NemesisKind, ...]
    gap_ms: int
    seed: int


class FileFinding(NamedTuple):
    """What `fsck` found wrong in the data directories: how often, and the first of them."""

    severity: FsckSeverity
    kind: str
    times: int
    first: str

    def __str__(self) -> str:
        return f"{self.severity} {self.kind}, {self.times} times: {self.first}"


@dataclass(frozen=True, slots=True)
class Round:
    """What came of one.

    Attributes:
        verdict: Of the history.
        headline: In one sentence.
        committed_count: Transactions that were committed.
        fault_count: Faults that were made.
        anomaly_counts: What is wrong with the history, by kind.
        reasons: Why the round decides nothing, where it does not.
        findings: What is wrong in the data directories; remarks are left out.
        states_met: How often faults met transactions in each state.
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
        """Return whether a promise was broken, in what clients saw or in the files."""
        return bool(self.anomaly_counts) or any(found.severity is FsckSeverity.ERROR for found in self.findings)

    def troubles(self) -> list[str]:
        """Return all that is wrong or undecided, a line each; warnings about files are not."""
        anomalies = [f"{count} {kind}" for kind, count in self.anomaly_counts]
        errors = [str(found) for found in self.findings if found.severity is FsckSeverity.ERROR]
        return [*anomalies, *self.reasons, *errors]


def warnings_of(rounds: Sequence[Round]) -> list[str]:
    """Return a line for each kind of warning about files, with how many rounds had it and the first of them."""
    by_kind: dict[str, list[FileFinding]] = {}
    for done in rounds:
        for found in done.findings:
            if found.severity is FsckSeverity.WARNING:
                by_kind.setdefault(found.kind, []).append(found)
    return [f"{same[0]} (in {len(same)} rounds)" for same in by_kind.values()]


async def play_round(number: int, work: Work, target: Target, data_dirs: Sequence[Path]) -> Round:
    """Play a verification, check the data directories before its topics go, and remove the topics."""
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
    """Check data directories as `eosctl fsck` does, and return its warnings and errors by kind."""
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
