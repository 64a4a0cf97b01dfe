"""The result of judging configuration files."""

from __future__ import annotations

from typing import NamedTuple

from eosctl.checks.judge import findings_of
from eosctl.checks.undecided import Undecided
from eosctl.findings.diagnosis import Diagnosis
from eosctl.findings.finding import Finding
from eosctl.findings.grouping import Action, FindingGroup, first_actions, group_findings
from eosctl.model.read_as import ReadAs
from eosctl.settings.deployment_files import Unreadable


class Linted(NamedTuple):
    """What a lint run found, and what it could not judge or read."""

    diagnosis: Diagnosis
    undecided: tuple[Undecided, ...]
    unreadable: tuple[Unreadable, ...]
    read: tuple[str, ...]
    without_settings: tuple[str, ...]
    generated_at_ms: int
    read_as: tuple[ReadAs, ...] = ()
    not_understood: tuple[str, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings by file and line."""
        return findings_of(self.diagnosis.results)

    @property
    def groups(self) -> tuple[FindingGroup, ...]:
        """The findings by cause, the worst first."""
        return group_findings(self.diagnosis.findings)

    @property
    def actions(self) -> tuple[Action, ...]:
        """What to do first."""
        return first_actions(self.groups)
