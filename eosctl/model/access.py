"""Applications that need access rules, and whether a cluster has such a rule."""

from __future__ import annotations

from enum import StrEnum


class ApplicationKind(StrEnum):
    """What an application does."""

    PRODUCER = "producer"
    IDEMPOTENT_PRODUCER = "idempotent-producer"
    CONSUMER = "consumer"
    PROCESSOR = "processor"
    STREAMS = "streams"
    CONNECT_SOURCE = "connect-source"


class RuleState(StrEnum):
    """Whether a cluster has a needed rule."""

    PRESENT = "present"
    MISSING = "missing"
    DENIED = "denied"
