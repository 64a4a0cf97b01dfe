"""The result of a command with findings: what counts, by cause, what to do first, and the exit code."""

from __future__ import annotations

from typing import NamedTuple

from eosctl.errors import ExitCode
from eosctl.findings.diagnosis import Diagnosis
from eosctl.findings.finding import Finding
from eosctl.findings.grouping import Action, FindingGroup


class Judged(NamedTuple):
    """A diagnosis that the demands on a run were applied to.

    Attributes:
        diagnosis: The results without suppressed findings.
        found: All findings, also those that are suppressed or in the baseline; the worst first.
        groups: The findings that count, by cause, the worst first.
        actions: What to do about the worst causes.
        exit_code: The exit code of the run.
        at_ms: The time of the judgment, in ms since the epoch.
        remarks: Remarks on the exit code that no finding shows.
    """

    diagnosis: Diagnosis
    found: tuple[Finding, ...]
    groups: tuple[FindingGroup, ...]
    actions: tuple[Action, ...]
    exit_code: ExitCode
    at_ms: int
    remarks: tuple[str, ...] = ()
