"""Recognize logs without any record of Kafka: their errors are those of other programs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from eosctl.model.event_names import EventCategory
from eosctl.model.log_event import UNCLASSIFIED
from eosctl.model.log_evidence import UnexplainedRecords
from eosctl.model.log_findings import LogFindings
from eosctl.text import count_text

_OF_ANY_PROGRAM: Final[frozenset[EventCategory]] = frozenset(
    {UNCLASSIFIED, "APPLICATION_SIGNAL", "APPLICATION_STOP", "GC_PAUSE", "PROCESS_PAUSED"}
)
"""Categories of records that programs without Kafka write, too."""
_KAFKA: Final = re.compile(
    r"(?i:kafka|zookeeper|redpanda|strimzi|confluent|transactional|\bsarama\b|\bfranz-go\b|\bkgo\b|\bbrokers?\b"
    r"|\bconsumer|\bproducer|\brebalanc|\btopics?\b)|\bo\.a\.k(?:afka)?\."
)
MEANING: Final = "an error of another program: no log of Kafka or of a client was recognized here"


def no_kafka_text(findings: LogFindings) -> str:
    """Return a sentence if records were read, and none of them is known to be of Kafka or names it; else empty."""
    categories = findings.totals.by_category.keys()
    if not findings.has_records or findings.incidents or not categories <= _OF_ANY_PROGRAM:
        return ""
    if any(map(_KAFKA.search, _texts(findings))):
        return ""
    records = count_text(sum(source.event_count for source in findings.sources), "record")
    return f"No log of Kafka was recognized in {records}, so these logs do not show whether transactions work"


def name_other_programs(findings: LogFindings) -> LogFindings:
    """Return findings without any record of Kafka with their errors named as those of other programs.

    Their severities stay: what was not understood must not pass ``--fail-on``.
    """
    if not findings.unexplained or not no_kafka_text(findings):
        return findings
    return findings._replace(unexplained=tuple(map(_of_other_program, findings.unexplained)))


def are_of_other_programs(records: Sequence[UnexplainedRecords]) -> bool:
    """Return whether all records are errors of other programs."""
    return all(one.meaning == MEANING for one in records)


def _of_other_program(one: UnexplainedRecords) -> UnexplainedRecords:
    return msgspec.structs.replace(one, meaning=MEANING)


def _texts(findings: LogFindings) -> Iterator[str]:
    for source in findings.sources:
        yield source.beginning
    for event in findings.events:
        yield f"{event.logger} {event.message}"
    for one in findings.unexplained:
        yield one.resource.name
