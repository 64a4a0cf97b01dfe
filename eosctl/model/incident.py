"""What went wrong according to logs, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from eosctl.model.severity import Severity


class EvidenceLine(NamedTuple):
    """A place in a log: the file, the byte at which the record starts, and the line, from 1.

    The record of a topic has its partition as file, its own offset, and the line within the record. Snapshots of
    earlier releases have no lines; there it is 0.
    """

    file: str
    offset: int
    line: int = 0

    @property
    def text(self) -> str:
        """Return the place as editors and `grep -n` write it: `server.log:812`."""
        return f"{self.file}:{self.line}" if self.line else self.file


class Incident(NamedTuple):
    """A fault with its cause.

    Attributes:
        kind: What happened, e.g. `producer_fenced`.
        root_cause: Why, e.g. `duplicate-transactional-id`.
        severity: How much it matters; `info` for what is benign.
        confidence: From 0 to 1: how much of the evidence that the verdict wants was there.
        subject: What it is about, by Kafka's names: `transactional.id`, `group`, `broker`, `topic-partition`.
        t_start_ms: The first evidence, ms since the epoch, UTC.
        t_end_ms: The last.
        evidence: The records that the verdict rests on, earliest first.
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
