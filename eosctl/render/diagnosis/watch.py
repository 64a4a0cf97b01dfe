"""Render one frame of ``doctor --watch``: the grade over time, and the causes with the latest changes."""

from __future__ import annotations

from typing import Final

import msgspec

from eosctl.findings.watching import Look, Standing
from eosctl.render.findings.text import TONES
from eosctl.render.formats import FindingFormat
from eosctl.render.machine import render_json_line
from eosctl.render.page import PLAIN, Block, Grid, Line, Style, render_page
from eosctl.render.transactions.watch import sparkline
from eosctl.text import count_text, duration_text, time_text

MESSAGE_CHARACTERS: Final = 110


class WatchedFinding(msgspec.Struct, frozen=True):
    """A current cause; ``is_new`` if the previous reading did not have it."""

    fingerprint: str
    check_id: str
    severity: str
    resource: str
    message: str
    symptom_count: int
    since: str
    is_new: bool


class LookItem(msgspec.Struct, frozen=True):
    """One reading as a line of JSON; ``gone`` are the fingerprints that only the previous reading had."""

    at: str
    grade: str
    score: int | None
    error: str
    findings: tuple[WatchedFinding, ...]
    gone: tuple[str, ...]


def look_item(look: Look) -> LookItem:
    """Return a reading as an item."""
    grade = None if look.diagnosis is None else look.diagnosis.grade
    return LookItem(
        at=time_text(look.at_ms),
        grade="" if grade is None else grade.letter,
        score=None if grade is None else grade.score,
        error=look.error,
        findings=tuple(_watched(one) for one in look.standing),
        gone=tuple(finding.fingerprint for finding in look.gone),
    )


def render_look(look: Look, rows: int, output: FindingFormat = FindingFormat.TABLE, style: Style = PLAIN) -> str:
    """Render a reading.

    Args:
        look: The newest reading.
        rows: Maximum number of causes to show.
        output: A line of JSON, or a frame for the terminal.
        style: Width and color.
    """
    if output is FindingFormat.JSON:
        return render_json_line(look_item(look))
    blocks: list[Block] = []
    if look.error:
        blocks.append(Line(f"{time_text(look.at_ms)}  The cluster could not be read: {look.error}", "bold red"))
    if look.diagnosis is None:
        return render_page(blocks, style._replace(fold=True))
    diagnosis = look.diagnosis
    worst = diagnosis.findings[0].severity if diagnosis.findings else None
    blocks += [
        Line(
            f"{time_text(diagnosis.captured_at_ms)}  {diagnosis.grade} {sparkline(look.scores)}",
            f"bold {TONES[worst] if worst else 'green'}",
        ),
        *(Line(text) for text in diagnosis.summary),
    ]
    blocks += [Line(f"gone: {one.check_id} {one.title}: {one.resource}", "green") for one in look.gone[:rows]]
    shown = look.standing[:rows]
    if shown:
        table = tuple(
            (
                "new" if one.is_new else duration_text(max(0, look.at_ms - one.since_ms)),
                one.group.cause.severity.value,
                one.group.cause.check_id,
                f"{_cut(one.group.cause.message)}{_symptoms(one)}",
            )
            for one in shown
        )
        blocks += [Line(""), Grid(table, ("FOR", "SEVERITY", "CHECK", "WHAT"))]
    if len(look.standing) > len(shown):
        blocks.append(Line(f"and {len(look.standing) - len(shown)} more"))
    return render_page(blocks, style._replace(fold=True))


def _watched(one: Standing) -> WatchedFinding:
    cause = one.group.cause
    return WatchedFinding(
        fingerprint=cause.fingerprint,
        check_id=cause.check_id,
        severity=cause.severity.value,
        resource=str(cause.resource),
        message=cause.message,
        symptom_count=len(one.group.symptoms),
        since=time_text(one.since_ms),
        is_new=one.is_new,
    )


def _symptoms(one: Standing) -> str:
    return f" (and {count_text(len(one.group.symptoms), 'symptom')})" if one.group.symptoms else ""


def _cut(text: str) -> str:
    return text if len(text) <= MESSAGE_CHARACTERS else f"{text[: MESSAGE_CHARACTERS - 1]}…"
