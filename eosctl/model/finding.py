"""Findings of checks: what is wrong, how one knows, what it costs, what to do, how to see that it worked."""

from __future__ import annotations

import hashlib
from enum import Enum, StrEnum
from typing import Final

import msgspec

from eosctl.model.evidence import EvidenceGap
from eosctl.model.severity import Severity

NO_LETTER: Final = "-"
"""The letter of a grade that could not be given."""


class Confidence(StrEnum):
    """How sure a verdict is."""

    CERTAIN = "certain"
    LIKELY = "likely"
    POSSIBLE = "possible"


class Evidence(msgspec.Struct, frozen=True):
    """One observed fact. ``source`` is its provenance: ``DescribeProducers broker 2``, ``server.properties:14``."""

    name: str
    value: str
    source: str


class Resource(msgspec.Struct, frozen=True):
    """What a finding is about: ``kind`` is cluster, broker, topic, partition, transaction, group or file."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


class Command(msgspec.Struct, frozen=True):
    """A shell command to type, with a word on what it does."""

    line: str
    note: str = ""


class Finding(msgspec.Struct, frozen=True):
    """One thing that is wrong.

    ``cause`` says why (empty when the check states a plain fact); ``impact`` is the blast radius in words. ``incident``
    groups findings that have one cause. ``facts`` are machine-readable values (snake_case names with unit).
    """

    check_id: str
    title: str
    severity: Severity
    resource: Resource
    message: str
    confidence: Confidence = Confidence.CERTAIN
    cause: str = ""
    impact: str = ""
    evidence: tuple[Evidence, ...] = ()
    remedy: tuple[str, ...] = ()
    commands: tuple[Command, ...] = ()
    verify: tuple[Command, ...] = ()
    references: tuple[str, ...] = ()
    incident: str = ""
    facts: tuple[tuple[str, str | int | bool], ...] = ()

    @property
    def fingerprint(self) -> str:
        """A stable identity over runs: check, resource and incident; 16 hex digits."""
        text = "\0".join((self.check_id, self.resource.kind, self.resource.name, self.incident))
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


class CheckStatus(Enum):
    """The outcome of one check; missing evidence is never a pass, nor are findings that somebody lives with."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    NOT_APPLICABLE = "not-applicable"
    SUPPRESSED = "suppressed"


class CheckResult(msgspec.Struct, frozen=True):
    """What became of one check. ``reason`` explains a skip; ``incomplete`` marks a verdict on partial evidence."""

    check_id: str
    title: str
    area: str
    status: CheckStatus
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    incomplete: bool = False


class Deduction(msgspec.Struct, frozen=True):
    """One line of the grade's arithmetic."""

    label: str
    count: int
    points_each: int
    points: int


class Grade(msgspec.Struct, frozen=True):
    """A letter with the arithmetic that leads to it; ``cap`` names the rule that limited the letter, or is empty."""

    letter: str
    score: int
    deductions: tuple[Deduction, ...] = ()
    cap: str = ""

    def __str__(self) -> str:
        return f"Grade {self.letter} ({self.score}/100)" if self.is_given else "No grade"

    @property
    def is_given(self) -> bool:
        """Whether there is a letter: at least one check was evaluated."""
        return self.letter != NO_LETTER


class Diagnosis(msgspec.Struct, frozen=True):
    """The result of a doctor or check run, ready to be rendered.

    ``suppressed`` are findings that do not count, each with the reason; ``remarks`` are for whoever keeps suppressions.
    """

    cluster_id: str
    captured_at_ms: int
    results: tuple[CheckResult, ...]
    grade: Grade
    gaps: tuple[EvidenceGap, ...] = ()
    summary: tuple[str, ...] = ()
    suppressed: tuple[tuple[Finding, str], ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, worst first, then by check id and resource."""
        found = [finding for result in self.results for finding in result.findings]
        return tuple(sorted(found, key=lambda f: (f.severity.rank, f.check_id, str(f.resource))))

    def count(self, status: CheckStatus) -> int:
        """Return how many checks ended with this status."""
        return sum(1 for result in self.results if result.status is status)
