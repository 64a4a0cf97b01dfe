"""The error for a transactional id that no coordinator listed: unknown, or only not seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eosctl.analysis.coordinators import why_ids_are_missing
from eosctl.errors import EosctlError, EvidenceIncomplete, UsageError
from eosctl.model.evidence import EvidenceKind
from eosctl.model.snapshot import ClusterSnapshot

NOT_LISTED: Final = "No coordinator lists it: it never existed, it expired, or this principal may not describe it."
_NO_COORDINATOR: Final = "Bring a replica of the partition back: eosctl doctor names the broker."


def unlisted_ids(
    snapshot: ClusterSnapshot, names: Sequence[str], why: str = NOT_LISTED, *, require_complete: bool = False
) -> EosctlError:
    """Return the error for ids that the evidence does not have.

    An id is unknown only if every coordinator responded: the one of this id may be away.

    Args:
        snapshot: The evidence.
        names: The ids.
        why: The reasons for an unknown id.
        require_complete: Whether missing evidence has an exit code of its own; a missing right always has it.
    """
    missing = why_ids_are_missing(snapshot)
    if not missing:
        return UsageError(
            f"Unknown transactional id {', '.join(map(repr, names))}.", why, "List all ids: eosctl txn list"
        )
    gaps = [gap for gap in snapshot.gaps if gap.kind is EvidenceKind.TRANSACTIONS]
    error = EvidenceIncomplete if require_complete or any(gap.is_denied for gap in gaps) else EosctlError
    return error(
        f"The list of transactional ids is incomplete, so {', '.join(names)} cannot be described.",
        "; ".join(missing),
        gaps[0].next_step if gaps else _NO_COORDINATOR,
    )
