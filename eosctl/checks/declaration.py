"""How a check is declared: one function, one decorator, and a docstring that is its manual."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from eosctl.analysis.fencing import find_fencings
from eosctl.analysis.hanging import classify_open_transactions
from eosctl.analysis.lifetime import classify_transactions
from eosctl.analysis.lso import StableOffsetGap, find_stable_offset_gaps
from eosctl.analysis.release import Release
from eosctl.findings.bootstrap import bootstrap_of
from eosctl.findings.finding import Command, Finding
from eosctl.model.deployment import Deployment, Role
from eosctl.model.evidence import ACTIVE_CONTROLLER, EvidenceKind
from eosctl.model.fencing import FencingEvent
from eosctl.model.hang import HangVerdict, TransactionVerdict
from eosctl.model.limits import Limits
from eosctl.model.severity import Severity
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.verdict import Confidence, Evidence, Resource


class Area(StrEnum):
    """What a check is about; the middle part of its id."""

    BROKER = "BRK"
    TOPIC = "TOP"
    TRANSACTION = "TXN"
    GROUP = "GRP"
    SECURITY = "SEC"
    CAPACITY = "CAP"
    UPGRADE = "UPG"
    OPERATIONS = "OPS"
    CONFIGURATION = "CFG"
    LOGS = "LOG"


@dataclass(frozen=True)
class Case:
    """What every check is given: a snapshot, the limits, and the analyses that several checks share, made once."""

    snapshot: ClusterSnapshot
    limits: Limits = field(default_factory=Limits)
    deployment: Deployment = field(default_factory=Deployment)

    @cached_property
    def open_transactions(self) -> tuple[HangVerdict, ...]:
        """Verdicts on transactions that are open on partition leaders."""
        return classify_open_transactions(self.snapshot, self.limits)

    @cached_property
    def transactions(self) -> tuple[TransactionVerdict, ...]:
        """Verdicts on transactions that coordinators hold open."""
        return classify_transactions(self.snapshot, self.limits)

    @cached_property
    def fencings(self) -> tuple[FencingEvent, ...]:
        """Transactions that ended under their producers."""
        return find_fencings(self.snapshot, self.limits)

    @cached_property
    def stable_offset_gaps(self) -> tuple[StableOffsetGap, ...]:
        """Partitions whose last stable offset lies behind."""
        return find_stable_offset_gaps(self.snapshot, self.open_transactions)

    @property
    def controller_is_silent(self) -> bool:
        """Whether brokers answer and no controller does: leaders cannot be elected, and metadata is frozen."""
        quorum = self.snapshot.quorum
        has_no_leader = quorum is not None and quorum.leader_id < 0
        return has_no_leader or any(
            gap.kind is EvidenceKind.QUORUM and gap.subject == ACTIVE_CONTROLLER for gap in self.snapshot.gaps
        )

    @property
    def bootstrap(self) -> str:
        """An address for the commands that findings propose."""
        return bootstrap_of(self.snapshot)


@dataclass(frozen=True, slots=True)
class Problem:
    """What a check found on one resource; the runner adds id, title and, unless given here, severity."""

    resource: Resource
    message: str
    severity: Severity | None = None
    confidence: Confidence = Confidence.CERTAIN
    cause: str = ""
    impact: str = ""
    evidence: tuple[Evidence, ...] = ()
    remedy: tuple[str, ...] = ()
    commands: tuple[Command, ...] = ()
    verify: tuple[Command, ...] = ()
    incident: str = ""
    facts: tuple[tuple[str, str | int | bool], ...] = ()
    files: tuple[str, ...] = ()


Evaluate = Callable[[Case], Iterator[Problem]]


@dataclass(frozen=True, slots=True)
class Check:
    """A declared check of a cluster, or of configurations.

    Attributes:
        needs: Evidence without which it is skipped.
        uses: Evidence that adds detail to its findings.
        needs_presence_of: Settings among those that need no known value, only a certain one: an id with a host's name.
        reads_log: Whether the transaction log stands in for coordinators that do not list their transactions (before
            Kafka 3.0).
        judges_gaps: Whether the gaps of its evidence are what it judges, so that it runs if nothing else was read.
        since: First Kafka release that it applies to.
        until: Last Kafka release that it applies to.
        applies: Returns why it does not apply to a cluster, or an empty text.
        roles: The kinds of components that it judges; empty for any component, and for a check of a cluster.
        reads: The settings that decide its outcome; empty for a check of a cluster.
    """

    id: str
    title: str
    area: Area
    severity: Severity
    needs: frozenset[EvidenceKind]
    evaluate: Evaluate
    manual: str
    uses: frozenset[EvidenceKind] = frozenset()
    since: Release | None = None
    until: Release | None = None
    tags: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    applies: Callable[[Case], str] | None = None
    roles: tuple[Role, ...] = ()
    reads: tuple[str, ...] = ()
    needs_presence_of: tuple[str, ...] = ()
    reads_log: bool = False
    judges_gaps: bool = False

    def __call__(self, case: Case) -> tuple[Finding, ...]:
        """Evaluate the check on any evidence in the case; return each finding once."""
        return tuple(dict.fromkeys(self._finding(problem) for problem in self.evaluate(case)))

    @property
    def name(self) -> str:
        """The name for people: that of its function, such as ``hanging-transaction``; as unique as the id."""
        return self.evaluate.__name__.replace("_", "-")

    @property
    def is_about_configuration(self) -> bool:
        """Whether the check judges a deployment instead of a snapshot."""
        return self.area is Area.CONFIGURATION

    def _finding(self, problem: Problem) -> Finding:
        return Finding(
            check_id=self.id,
            title=self.title,
            severity=problem.severity or self.severity,
            resource=problem.resource,
            message=problem.message,
            confidence=problem.confidence,
            cause=problem.cause,
            impact=problem.impact,
            evidence=problem.evidence,
            remedy=problem.remedy,
            commands=problem.commands,
            verify=problem.verify,
            references=self.references,
            incident=problem.incident,
            facts=problem.facts,
            files=problem.files,
        )


def check(
    id: str,
    title: str,
    area: Area,
    severity: Severity,
    *,
    needs: frozenset[EvidenceKind] = frozenset(),
    uses: frozenset[EvidenceKind] = frozenset(),
    since: Release | None = None,
    until: Release | None = None,
    tags: tuple[str, ...] = (),
    references: tuple[str, ...] = (),
    applies: Callable[[Case], str] | None = None,
    roles: Sequence[Role] = (),
    reads: Sequence[str] = (),
    needs_presence_of: Sequence[str] = (),
    reads_log: bool = False,
    judges_gaps: bool = False,
) -> Callable[[Evaluate], Check]:
    """Declare a check; the decorated function's docstring becomes its manual.

    A check of a cluster names the evidence that it needs. A check of configurations (area ``CONFIGURATION``) names the
    roles that it judges and the settings that it reads; these become tags and references too.

    Args:
        id: ``EOS-<AREA>-<NNN>``, never used twice (``catalog.lock``).
        title: The problem, in a few words.
        area: The subject.
        severity: The severity, unless a problem has its own.
        needs: Required evidence; without it the check is skipped.
        uses: Optional evidence.
        since: First Kafka release to which it applies.
        until: Last Kafka release to which it applies.
        tags: Words for selecting it.
        references: KIPs, settings, issues.
        applies: Returns why it does not apply to this cluster, or an empty text.
        roles: The check applies only to components of these roles; empty for any component.
        reads: The settings that decide; a placeholder in one of them leaves the check undecided.
        needs_presence_of: Settings among those that need no known text, only one that is not empty.
        reads_log: Whether the transaction log stands in for coordinators that do not list their transactions.
        judges_gaps: Whether gaps of its evidence are what it judges.
    """
    if area is Area.CONFIGURATION:
        tags = tuple(dict.fromkeys(("configuration", *(role.value for role in roles), *tags)))
        references = (*references, *reads)

    def declare(evaluate: Evaluate) -> Check:
        return Check(
            id=id,
            title=title,
            area=area,
            severity=severity,
            needs=needs,
            evaluate=evaluate,
            manual=evaluate.__doc__ or "",
            uses=uses,
            since=since,
            until=until,
            tags=tags,
            references=references,
            applies=applies,
            roles=tuple(roles),
            reads=tuple(reads),
            needs_presence_of=tuple(needs_presence_of),
            reads_log=reads_log,
            judges_gaps=judges_gaps,
        )

    return declare
