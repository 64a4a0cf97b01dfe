"""Incidents found in logs, with their causes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from eosctl.model.severity import Severity


class EvidenceLine(NamedTuple):
    """A place in a log: the file, the byte position of the record, and the line, from 1.

    For a record of a topic, the file is its partition, the position its offset, and the line is counted within the
    record. In snapshots of earlier releases the line is 0.
    """

    file: str
    offset: int
    line: int = 0

    @property
    def text(self) -> str:
        """Return the place in the format of editors and `grep -n`: `server.log:812`."""
        return f"{self.file}:{self.line}" if self.line else self.file


class Incident(NamedTuple):
    """An incident with its cause.

    Attributes:
        kind: Its kind, e.g. `producer_fenced`.
        root_cause: Its cause, e.g. `duplicate-transactional-id`.
        severity: Its severity; `info` if benign.
        confidence: The share of the expected evidence that was found, 0 to 1.
        subject: Its subject, by Kafka's names: `transactional.id`, `group`, `broker`, `topic-partition`.
        t_start_ms: The first evidence, milliseconds since the epoch.
        t_end_ms: The last evidence.
        evidence: The records that support the verdict, earliest first.
        explanation: The verdict in a sentence or two.
        next_step: What to do about it.
    """

    kind: str
    root_cause: str
    severity: Severity
    confidence: float
    subject: Mapping[str, str | tuple[str, ...]]
    t_start_ms: int
    t_end_ms: int
    evidence: tuple[EvidenceLine, ...]
    explanation: str
    next_step: str
