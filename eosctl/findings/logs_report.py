"""A report of logs."""

from __future__ import annotations

from typing import Final, NamedTuple

from eosctl.findings.diagnosis import Diagnosis
from eosctl.model.log_category import LogCategory
from eosctl.model.log_digest import LogDigest
from eosctl.model.log_findings import LogFindings

AREA: Final = "logs"


class LogsReport(NamedTuple):
    """The input of the renderers of a report of logs.

    Attributes:
        findings: The logs, without the incidents and records that are suppressed.
        digest: Messages, bursts, and clocks.
        diagnosis: The same findings as a diagnosis, with those that are suppressed.
        categories: The categories that call for action.
        generated_at_ms: The time of the report, in ms since the epoch.
    """

    findings: LogFindings
    digest: LogDigest
    diagnosis: Diagnosis
    categories: tuple[LogCategory, ...]
    generated_at_ms: int


def check_id(name: str) -> str:
    """Return the id of the findings of a kind of incident or of a category.

    >>> check_id("producer_fenced")
    'logs/producer_fenced'
    """
    return f"{AREA}/{name}"


def title_of(name: str) -> str:
    """Return the name of a kind or a category in words.

    >>> title_of("producer_fenced"), title_of("COORDINATOR_LOAD_FAILED")
    ('Producer fenced', 'Coordinator load failed')
    """
    return name.replace("_", " ").replace("-", " ").capitalize()
