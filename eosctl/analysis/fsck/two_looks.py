"""Confirm findings in the files of a running broker by reading them again.

Files are read one after the other while the broker writes to them. A batch can be half appended, a transaction can
begin after the coordinator's log was read, and a compacted segment can replace a segment. The second reading differs in
all these cases: the batch is complete, and a transaction that was open between the readings is in the coordinator's
log.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from eosctl.model.fsck import FsckFinding, FsckSeverity


def is_suspicious(finding: FsckFinding) -> bool:
    """Return whether a finding needs to be confirmed; remarks do not."""
    return finding.severity is not FsckSeverity.INFO


def confirm(first: Iterable[FsckFinding], second: Iterable[FsckFinding]) -> list[FsckFinding]:
    """Return what the second reading found, without the warnings and errors that the first had not."""
    known = {_identity(finding) for finding in first if is_suspicious(finding)}
    return [finding for finding in second if not is_suspicious(finding) or _identity(finding) in known]


def _identity(finding: FsckFinding) -> tuple[Any, ...]:
    return (
        finding.kind,
        finding.directory,
        finding.file,
        finding.partition,
        finding.position,
        finding.offset,
        finding.entry,
        finding.producer_id,
        finding.producer_epoch,
        finding.transactional_id,
    )
