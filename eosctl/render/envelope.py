"""The frame around every machine-readable result: what it is, where it comes from, how whole it is."""

from __future__ import annotations

from typing import Final, Generic, TypeVar

import msgspec

from eosctl.model.evidence import EvidenceGap
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.text import time_text

T = TypeVar("T")

#: The schema_version of results that lost or changed a field; that of all others is 1. Fields are added without.
VERSIONS: Final = {"capacity-plan": 2, "capacity-simulation": 2, "entries": 2, "explanations": 2, "scenarios": 2}


class ClusterView(msgspec.Struct, frozen=True):
    """Which cluster a result is about."""

    id: str
    broker_count: int
    controller_id: int | None


class EvidenceView(msgspec.Struct, frozen=True):
    """What a result rests on. ``complete`` is False when any piece that was asked for is missing."""

    captured_at: str
    observer: str
    look_count: int
    collected: tuple[str, ...]
    complete: bool
    gaps: tuple[EvidenceGap, ...]


class Envelope(msgspec.Struct, frozen=True):
    """What each machine-readable result begins with; the classes of results inherit it."""

    schema: str
    schema_version: int
    command: str
    generated_at: str


class Listing(Envelope, Generic[T], frozen=True):
    """A list of like things, with its envelope."""

    cluster: ClusterView | None
    evidence: EvidenceView | None
    items: tuple[T, ...]


def schema_version_of(kind: str) -> int:
    """Return the version of a schema.

    >>> schema_version_of("capacity-plan"), schema_version_of("transactions")
    (2, 1)
    """
    return VERSIONS.get(kind, 1)


def envelope(kind: str, command: str, generated_at_ms: int) -> tuple[str, int, str, str]:
    """Return the values of an `Envelope`.

    Args:
        kind: The schema's name without the program: ``transactions`` becomes ``eosctl.transactions``.
        command: The command without the program's name: ``txn list``.
        generated_at_ms: When this is rendered, ms since the epoch.
    """
    return f"eosctl.{kind}", schema_version_of(kind), command, time_text(generated_at_ms)


def cluster_view(snapshot: ClusterSnapshot) -> ClusterView:
    """Describe a snapshot's cluster."""
    return ClusterView(snapshot.cluster_id, snapshot.broker_count, snapshot.controller_id)


def evidence_view(snapshot: ClusterSnapshot) -> EvidenceView:
    """Describe a snapshot's evidence."""
    return EvidenceView(
        captured_at=time_text(snapshot.captured_at_ms),
        observer=snapshot.observer,
        look_count=len(snapshot.looks),
        collected=tuple(sorted(kind.value for kind in snapshot.collected)),
        complete=not snapshot.gaps,
        gaps=snapshot.gaps,
    )


def listing(
    kind: str, command: str, generated_at_ms: int, items: tuple[T, ...], snapshot: ClusterSnapshot | None = None
) -> Listing[T]:
    """Put items into an envelope.

    Args:
        kind: As in `envelope`.
        command: As in `envelope`.
        generated_at_ms: As in `envelope`.
        items: The things themselves.
        snapshot: What they were read from, if they come from a cluster.
    """
    return Listing(
        *envelope(kind, command, generated_at_ms),
        cluster=None if snapshot is None else cluster_view(snapshot),
        evidence=None if snapshot is None else evidence_view(snapshot),
        items=items,
    )
