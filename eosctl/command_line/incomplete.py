"""Name missing evidence on standard error if the format of a result omits it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, NoReturn

import typer

from eosctl.command_line.invocation import note
from eosctl.errors import ExitCode
from eosctl.model.evidence import EvidenceGap

#: Formats that some commands fill without the evidence that is missing; the other ones always have it.
_COMPARED: Final = ("table", "wide", "json")
_WITHOUT_NOTES: Final = ("tsv", "csv", "github", "prometheus")
_SHOWN: Final = 5


def note_gaps(output: StrEnum, gaps: Sequence[EvidenceGap], shown: str | None = None) -> None:
    """Name the evidence that could not be had, and how to get it, unless the result shows it.

    Args:
        output: The format of the result.
        gaps: The missing evidence.
        shown: The result; None if each of its formats with notes shows the gaps.
    """
    if output.value in _WITHOUT_NOTES:
        _note_each([gap.sentence for gap in gaps])
    elif shown is not None and output.value in _COMPARED:
        text = " ".join(shown.split())
        _note_each([gap.sentence for gap in gaps if not _is_shown(gap, text)])


def _is_shown(gap: EvidenceGap, text: str) -> bool:
    if gap.is_denied and gap.next_step:
        return gap.next_step in text
    return any(part in text for part in (gap.next_step, gap.detail) if part) or (not gap.detail and gap.subject in text)


def end_reading(gaps: Sequence[EvidenceGap]) -> NoReturn:
    """End a command that demands a complete result: missing evidence is named, and has an exit code of its own."""
    _note_each([gap.sentence for gap in gaps])
    raise typer.Exit(ExitCode.INCOMPLETE if gaps else ExitCode.DONE)


def note_missing(output: StrEnum, missing: Sequence[str]) -> None:
    """Name what was not read or could not be judged, next to a result that cannot show it."""
    if output.value in _WITHOUT_NOTES:
        _note_each(missing)


def _note_each(missing: Sequence[str]) -> None:
    for text in missing[:_SHOWN]:
        note(f"incomplete: {text}")
    if len(missing) > _SHOWN:
        note(f"incomplete: and {len(missing) - _SHOWN:,} more; -o json shows all")
