"""The result of judging configuration files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from eosctl.errors import ConfigFileError
from eosctl.findings.diagnosis import CheckResult, CheckStatus, Diagnosis
from eosctl.findings.finding import Finding
from eosctl.findings.grouping import Action, FindingGroup, first_actions, group_findings
from eosctl.findings.manual import ManualItem
from eosctl.model.read_as import TOOL_OUTPUT, ReadAs
from eosctl.model.unjudged import Undecided, Unseen


class Unreadable(NamedTuple):
    """A file that could not be used, with the reason."""

    file: str
    error: ConfigFileError


def findings_of(results: Iterable[CheckResult]) -> tuple[Finding, ...]:
    """Return the findings by file and line, the worst first on each line."""
    found = [finding for result in results for finding in result.findings]

    def place(finding: Finding) -> tuple[str, int, int, str]:
        facts = dict(finding.facts)
        return str(facts["file"]), int(facts["line"]), finding.severity.rank, finding.check_id

    return tuple(sorted(found, key=place))


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
    manuals: tuple[ManualItem, ...] = ()
    unseen: tuple[Unseen, ...] = ()

    @property
    def is_unjudged(self) -> bool:
        """Whether files were recognized, and no rule applies to any of them: this is not an all-clear."""
        statuses = {result.status for result in self.diagnosis.results}
        return bool(self.read_as) and statuses <= {CheckStatus.NOT_APPLICABLE}

    @property
    def is_tool_output(self) -> bool:
        """Whether nothing but the output of Kafka's tools was recognized."""
        return bool(self.read_as) and all(one.role == TOOL_OUTPUT for one in self.read_as)

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
