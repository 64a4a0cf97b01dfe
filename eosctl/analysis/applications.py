"""Infer the type of application from the pattern of a transactional id and its timeout."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from eosctl.model.transaction import NO_TIMEOUT_MS


class ApplicationKind(StrEnum):
    """The likely creator of ids with this pattern; patterns overlap, so it is not proof."""

    STREAMS = "Kafka Streams"
    STREAMS_BY_TASK = "Kafka Streams, one producer a task (before exactly_once_v2)"
    CONNECT_LEADER = "Kafka Connect, leader of a worker group"
    FLINK = "Flink Kafka sink"
    TWO_PHASE = "two-phase commit (KIP-939)"
    UNKNOWN = ""


_UUID: Final = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
# In this order: a Streams id ends in a number after its UUID, a Flink id in two numbers.
_PATTERNS: Final = (
    (ApplicationKind.STREAMS, re.compile(rf".+-{_UUID}-\d+")),
    (ApplicationKind.STREAMS_BY_TASK, re.compile(r".+-\d+_\d+")),
    (ApplicationKind.CONNECT_LEADER, re.compile(r"connect-cluster-.+")),
    # prefix-subtask-checkpoint, KafkaSink of Flink 1.14 and later.
    (ApplicationKind.FLINK, re.compile(r".+-\d+-\d+")),
)


def recognize_application(transactional_id: str, timeout_ms: int | None = None) -> ApplicationKind:
    """Return the likely owner of an id.

    >>> recognize_application("sink-3-17").value, recognize_application("orders").value
    ('Flink Kafka sink', '')
    """
    if timeout_ms is not None and timeout_ms >= NO_TIMEOUT_MS:
        return ApplicationKind.TWO_PHASE
    matching = (kind for kind, pattern in _PATTERNS if pattern.fullmatch(transactional_id))
    return next(matching, ApplicationKind.UNKNOWN)


def permanent_loss(transactional_id: str, timeout_ms: int | None = None) -> str:
    """Describe the permanent loss when such a transaction is ended; empty if the application repeats the work."""
    match recognize_application(transactional_id, timeout_ms):
        case ApplicationKind.FLINK:
            return (
                "Ids of this pattern are Flink's: a transaction that its checkpoint already counts as complete would "
                "be lost, because Flink does not read that input again."
            )
        case ApplicationKind.TWO_PHASE:
            return (
                "It takes part in a two-phase commit: if its other half has committed, aborting it loses this half "
                "permanently."
            )
        case _:
            return ""
