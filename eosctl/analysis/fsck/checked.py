"""The result of a check of data directories."""

from __future__ import annotations

from typing import NamedTuple

from eosctl.analysis.fsck.diagnosis import finding_of
from eosctl.findings.diagnosis import Diagnosis
from eosctl.findings.grouping import Action, FindingGroup, first_actions, group_findings
from eosctl.model.fsck import FsckFinding, FsckSeverity
from eosctl.model.severity import Severity


class Checked(NamedTuple):
    """The result of a check.

    Attributes:
        diagnosis: Without the findings that are suppressed.
        found: All findings.
        partition_count: How many replicas were read.
        generated_at_ms: The time of the check, ms since the epoch.
        about: What was read, one sentence a line.
    """

    diagnosis: Diagnosis
    found: tuple[FsckFinding, ...]
    partition_count: int
    generated_at_ms: int
    about: tuple[str, ...] = ()

    @property
    def counted(self) -> tuple[FsckFinding, ...]:
        """Return the findings that count, the worst first."""
        counted = frozenset(self.diagnosis.findings)
        rank = [FsckSeverity.ERROR, FsckSeverity.WARNING, FsckSeverity.INFO]
        ordered = sorted(self.found, key=lambda one: rank.index(one.severity))
        return tuple(one for one in ordered if finding_of(one) in counted)

    @property
    def groups(self) -> tuple[FindingGroup, ...]:
        """Return the findings by cause, the worst first."""
        return group_findings(self.diagnosis.findings)

    @property
    def actions(self) -> tuple[Action, ...]:
        """What to do first about errors and warnings."""
        return first_actions(one for one in self.groups if one.cause.severity.at_least(Severity.WARNING))
