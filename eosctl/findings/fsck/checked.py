"""The result of a check of data directories."""

from __future__ import annotations

from typing import Final, NamedTuple

from eosctl.findings.diagnosis import Diagnosis
from eosctl.findings.finding import Finding
from eosctl.findings.fsck.consequences import CONSEQUENCES
from eosctl.findings.fsck.kinds import check_id
from eosctl.findings.fsck.titles import TITLES
from eosctl.findings.grouping import Action, FindingGroup, first_actions, group_findings
from eosctl.model.fsck import FsckFinding, FsckSeverity
from eosctl.model.severity import Severity
from eosctl.model.verdict import Resource

_SEVERITIES: Final = {
    FsckSeverity.INFO: Severity.INFO,
    FsckSeverity.WARNING: Severity.WARNING,
    FsckSeverity.ERROR: Severity.ERROR,
}


class Checked(NamedTuple):
    """The result of a check.

    Attributes:
        diagnosis: Without the findings that are suppressed.
        found: All findings.
        partition_count: How many replicas were read.
        generated_at_ms: The time of the check, ms since the epoch.
        about: What was read, one sentence a line.
        taken: What was taken from an interrupted run instead; empty if nothing was.
    """

    diagnosis: Diagnosis
    found: tuple[FsckFinding, ...]
    partition_count: int
    generated_at_ms: int
    about: tuple[str, ...] = ()
    taken: str = ""

    @property
    def counted(self) -> tuple[FsckFinding, ...]:
        """The findings that count, the worst first."""
        counted = frozenset(self.diagnosis.findings)
        rank = [FsckSeverity.ERROR, FsckSeverity.WARNING, FsckSeverity.INFO]
        ordered = sorted(self.found, key=lambda one: rank.index(one.severity))
        return tuple(one for one in ordered if finding_of(one) in counted)

    @property
    def groups(self) -> tuple[FindingGroup, ...]:
        """The findings by cause, the worst first."""
        return group_findings(self.diagnosis.findings)

    @property
    def actions(self) -> tuple[Action, ...]:
        """What to do first about errors and warnings."""
        return first_actions(one for one in self.groups if one.cause.severity.at_least(Severity.WARNING))


def finding_of(found: FsckFinding) -> Finding:
    """Return a finding of a data directory as a finding like all others.

    Its identity is the directory, the file or partition, and the place in it, so that a second damaged place in a file
    is a new finding.
    """
    follows = CONSEQUENCES[found.kind]
    severity = _SEVERITIES[found.severity]
    place = (found.entry, found.position, found.offset, found.producer_id, found.transactional_id)
    facts = {
        "directory": found.directory,
        "file": f"{found.directory}/{found.file}" if found.file else "",
        "partition": found.partition,
        "position": found.position,
        "offset": found.offset,
        "entry": found.entry,
        "producer_id": found.producer_id,
        "producer_epoch": found.producer_epoch,
        "transactional_id": found.transactional_id,
        "invalid_bytes": found.invalid_bytes,
    }
    return Finding(
        check_id=check_id(found.kind),
        title=TITLES[found.kind],
        severity=severity,
        resource=_resource(found),
        message=found.message,
        impact=follows.effect,
        remedy=() if severity is Severity.INFO else (follows.repair,),
        incident=":".join((found.directory, *(str(one) for one in place if one is not None))),
        facts=tuple((name, value) for name, value in facts.items() if value not in (None, "")),
    )


def _resource(found: FsckFinding) -> Resource:
    if found.file:
        return Resource("file", f"{found.directory}/{found.file}")
    if found.partition:
        return Resource("partition", found.partition)
    if found.transactional_id:
        return Resource("transaction", found.transactional_id)
    return Resource("directory", found.directory)
