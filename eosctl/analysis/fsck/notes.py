"""A notebook for findings on one partition: each with the files it is about, some only if the log is not compacted."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from eosctl.model.fsck import FsckFinding, FsckSeverity

ERROR, WARNING, INFO = FsckSeverity.ERROR, FsckSeverity.WARNING, FsckSeverity.INFO
#: Findings of one partition that are kept; a file full of noise must not fill the memory.
_MOST_FINDINGS = 10_000
#: A finding, and the first offset that its verdict depends on; None if it holds wherever the cleaner has been.
Note = tuple[FsckFinding, int | None]


class Notes:
    """Findings of one partition."""

    def __init__(self, directory: str, partition: str, kept: list[Note] | None = None) -> None:
        """Name the data directory and the partition's directory in it, and give the notes of an earlier run."""
        self._blank = FsckFinding("", INFO, "", directory=directory, partition=partition)
        self.kept: list[Note] = [] if kept is None else kept

    def add(
        self,
        kind: str,
        message: str,
        file: str,
        *,
        severity: FsckSeverity = ERROR,
        since: int | None = None,
        **where: Any,
    ) -> None:
        """Note a finding.

        Args:
            kind: Its kind.
            message: What was found.
            file: The file's name within the partition directory.
            severity: How bad it is.
            since: First offset that the verdict depends on. It is dropped when the cleaner has been there.
            where: Further fields of the finding.
        """
        if len(self.kept) >= _MOST_FINDINGS:
            return
        path = f"{self._blank.partition}/{file}" if file else ""
        found = replace(self._blank, kind=kind, message=message, file=path, severity=severity, **where)
        self.kept.append((found, since))

    def findings(self, cleaned_to: int) -> list[FsckFinding]:
        """Return what holds, knowing up to which offset the log was compacted."""
        return [finding for finding, since in self.kept if since is None or since >= cleaned_to]
