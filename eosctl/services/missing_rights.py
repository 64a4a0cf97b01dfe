"""The error of a command that could not judge, or be carried out, because its principal lacks a right.

Without the right, the evidence looks as if a topic or an id did not exist, or as if a transaction could not be ended.
Such a refusal is not a verdict about the cluster: the right is missing evidence, and the next step is to grant it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from eosctl.errors import EosctlError, EvidenceIncomplete
from eosctl.model.evidence import EvidenceGap, EvidenceKind

E = TypeVar("E", bound=EosctlError)


def denied_among(gaps: Iterable[EvidenceGap], kinds: Iterable[EvidenceKind]) -> tuple[EvidenceGap, ...]:
    """Return the gaps in these kinds of evidence that exist because the principal lacks a right."""
    wanted = frozenset(kinds)
    return tuple(gap for gap in gaps if gap.is_denied and gap.kind in wanted)


def unless_denied(error: E, denied: Iterable[EvidenceGap]) -> E | EvidenceIncomplete:
    """Return an error as it is, or as incomplete evidence that names the missing rights.

    Args:
        error: The refusal, or the unknown name.
        denied: The gaps in the evidence from which it follows, because the principal lacks rights.
    """
    steps = tuple(dict.fromkeys(gap.next_step for gap in denied if gap.next_step))
    if not steps or isinstance(error, EvidenceIncomplete):
        return error
    return EvidenceIncomplete(error.what, error.why, " ".join(steps))
