"""Responses that leave out a part of their request: a gap for each part, since nothing was read of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TypeVar

from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason

Part = TypeVar("Part")


def unanswered(
    kind: EvidenceKind,
    requested: Iterable[Part],
    answered: Collection[Part],
    subject_of: Callable[[Part], str] = str,
) -> tuple[EvidenceGap, ...]:
    """Return a gap for each requested part that the response does not contain.

    Kafka answers every part of a request, with an error if need be. A proxy, another implementation of the protocol, or
    a defect can leave one out, and its silence is not health.

    Args:
        kind: The kind of the evidence.
        requested: The parts of the request, e.g. partitions or the ids of groups.
        answered: The parts that the response contains, also those with an error.
        subject_of: Returns the subject of a part's gap.
    """
    return tuple(left_out(kind, subject_of(part)) for part in requested if part not in answered)


def left_out(kind: EvidenceKind, subject: str) -> EvidenceGap:
    """Return the gap of a part that the response does not contain."""
    return EvidenceGap(
        kind,
        subject,
        GapReason.BROKER_ERROR,
        detail="the response does not contain it",
        next_step="Run the command again; if it persists, connect to the brokers directly, without a proxy.",
    )
