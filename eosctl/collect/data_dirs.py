"""Check data directories, in two passes if a broker writes to them meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

from eosctl.analysis.fsck.data_set import DataSetCheck
from eosctl.analysis.fsck.progress import NOTHING_KEPT
from eosctl.analysis.fsck.two_looks import confirm, is_suspicious
from eosctl.collect.fsck_progress import FsckProgressFile
from eosctl.model.fsck import FsckFinding
from eosctl.storage.file_lock import LockState
from eosctl.storage.survey import DataDirFacts, fingerprint_of, survey_data_dir, survey_partition
from eosctl.storage.throttled_reader import Read

#: Default rate for reading the files of a running broker.
LIVE_BYTES_PER_S: Final = 50 << 20


class Inspected(NamedTuple):
    """The result of checking data directories.

    Attributes:
        findings: The problems.
        partition_count: Number of replicas read.
        is_live: Whether a broker was writing to them, so that only problems found in both passes are reported.
    """

    findings: list[FsckFinding]
    partition_count: int
    is_live: bool


def is_in_use(surveyed: Sequence[DataDirFacts]) -> bool:
    """Return whether a broker of this machine uses one of the directories."""
    return any(facts.lock is LockState.HELD for facts in surveyed)


def inspect_data_dirs(
    surveyed: Sequence[DataDirFacts],
    read: Read,
    pause: Callable[[], None],
    report: Callable[[str], None] = lambda text: None,
    progress: FsckProgressFile | None = None,
) -> Inspected:
    """Check the data directories of a cluster.

    Args:
        surveyed: The directories with their files.
        read: Reads the logs.
        pause: Waits before the second pass.
        report: Receives the name of the next partition, for progress.
        progress: Keeps how far the check is, and how far an interrupted run was; None to keep nothing.

    Raises:
        OSError: A directory or file cannot be read.
        EosctlError: The progress cannot be written.
    """
    findings = None if progress is None else progress.first_findings
    if findings is None:
        before = [fingerprint_of(facts) for facts in surveyed]
        findings, partition_count = _inspect(surveyed, read, report, progress)
        if not any(map(is_suspicious, findings)):
            return Inspected(findings, partition_count, is_in_use(surveyed))
        if not is_in_use(surveyed) and before == [fingerprint_of(facts) for facts in surveyed]:
            return Inspected(findings, partition_count, False)
        if progress is not None:
            progress.begin_second_reading(findings)
    report("a second reading")
    pause()
    again, partition_count = _inspect([survey_data_dir(facts.path) for facts in surveyed], read, report, progress)
    return Inspected(confirm(findings, again), partition_count, True)


def _inspect(
    surveyed: Sequence[DataDirFacts], read: Read, report: Callable[[str], None], progress: FsckProgressFile | None
) -> tuple[list[FsckFinding], int]:
    check = DataSetCheck(NOTHING_KEPT if progress is None else progress)
    survey = partial(survey_partition, read=read, is_printed=progress is not None)
    findings: list[FsckFinding] = []
    for facts in surveyed:
        findings += check.check_directory(facts, survey, report)
    findings += check.check_together()
    return findings, check.partition_count
