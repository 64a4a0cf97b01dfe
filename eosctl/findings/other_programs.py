"""Recognize logs without any record of Kafka: their errors are those of other programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from eosctl.model.any_program import OF_ANY_PROGRAM, names_kafka
from eosctl.model.log_evidence import UnexplainedRecords
from eosctl.model.log_findings import LogFindings
from eosctl.model.severity import Severity
from eosctl.text import count_text

MEANING: Final = "an error of another program: no log of Kafka or of a client was recognized here"
_NEXT_STEP: Final = "Read the quoted records and the lines around them; find the cause in the program that wrote them."


def no_kafka_text(findings: LogFindings) -> str:
    """Return a sentence if records were read, and none of them is known to be of Kafka or names it; else empty."""
    categories = findings.totals.by_category.keys()
    if not findings.has_records or findings.incidents or not categories <= OF_ANY_PROGRAM:
        return ""
    if any(map(names_kafka, _texts(findings))):
        return ""
    records = count_text(sum(source.event_count for source in findings.sources), "record")
    return f"No log of Kafka was recognized in {records}, so these logs do not show whether transactions work"


def name_other_programs(findings: LogFindings) -> LogFindings:
    """Return findings without any record of Kafka with their errors named as those of other programs.

    They stay warnings: what was not understood must not pass ``--fail-on``.
    """
    if not findings.unexplained or not no_kafka_text(findings):
        return findings
    return findings._replace(unexplained=tuple(map(_of_other_program, findings.unexplained)))


def are_of_other_programs(records: Sequence[UnexplainedRecords]) -> bool:
    """Return whether all records are errors of other programs."""
    return all(one.meaning == MEANING for one in records)


def _of_other_program(one: UnexplainedRecords) -> UnexplainedRecords:
    severity = max(one.severity, Severity.WARNING, key=lambda severity: severity.rank)
    return msgspec.structs.replace(one, severity=severity, meaning=MEANING, next_step=_NEXT_STEP)


def _texts(findings: LogFindings) -> Iterator[str]:
    for source in findings.sources:
        yield source.beginning
    for event in findings.events:
        yield f"{event.logger} {event.message}"
    for one in findings.unexplained:
        yield one.resource.name
