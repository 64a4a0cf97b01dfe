"""Name missing evidence on standard error if the format of a result omits it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from eosctl.command_line.invocation import note
from eosctl.model.evidence import EvidenceGap

_WITHOUT_NOTES: Final = ("tsv", "csv", "github", "prometheus")
_SHOWN: Final = 5


def note_gaps(output: StrEnum, gaps: Sequence[EvidenceGap]) -> None:
    """Name the evidence that could not be had, next to a result that cannot show it."""
    note_missing(output, [_sentence(gap) for gap in gaps])


def _sentence(gap: EvidenceGap) -> str:
    why = (gap.error or gap.detail or gap.reason.value).rstrip(".")
    return f"{gap.kind.value} of {gap.subject}: {why}. {gap.next_step}".rstrip()


def note_missing(output: StrEnum, missing: Sequence[str]) -> None:
    """Name what was not read or could not be judged, next to a result that cannot show it."""
    if output.value not in _WITHOUT_NOTES:
        return
    for text in missing[:_SHOWN]:
        note(f"incomplete: {text}")
    if len(missing) > _SHOWN:
        note(f"incomplete: and {len(missing) - _SHOWN:,} more; -o json shows all")
