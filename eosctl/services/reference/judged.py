"""Judge pasted log records as a report of logs does, so that their cause counts more than their words."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from eosctl.knowledge.reference.index import find_entries
from eosctl.model.incident import Incident
from eosctl.model.reference import Entry, EntryKind
from eosctl.model.severity import Severity
from eosctl.services.log_findings import collect_log_findings

_SURE: Final = 0.85
"""The confidence from which a verdict goes before names and words of the text."""
_UNEXPLAINED: Final = "unexplained"
_OUTSIDE: Final = frozenset({"error_outside_catalog", "process_ended_by_an_error", "test_run"})
"""Kinds that repeat an error of the text without a cause of their own."""


class Verdict(NamedTuple):
    """The cause that pasted records show, with its entry in the reference."""

    entry: Entry
    incident: Incident


def judge_pasted(text: str) -> tuple[Verdict, ...]:
    """Return what the log records in a text show for certain, the worst first.

    The text is judged as one file of a log whose stamps without a zone are in UTC. A verdict with too little evidence,
    or without a cause, is omitted.

    Args:
        text: Pasted records, also between other lines.
    """
    with TemporaryDirectory() as folder:
        file = Path(folder) / "pasted.log"
        file.write_text(text, "utf-8", "replace", newline="")
        incidents = collect_log_findings([file]).incidents
    sure = (
        one
        for one in incidents
        if one.confidence >= _SURE
        and one.severity.at_least(Severity.WARNING)
        and one.root_cause != _UNEXPLAINED
        and one.kind not in _OUTSIDE
    )
    ranked = sorted(sure, key=lambda one: (not one.severity.at_least(Severity.CRITICAL), -one.confidence))
    entries = ((_entry_of(one), one) for one in ranked)
    return tuple(Verdict(entry, one) for entry, one in entries if entry is not None)


def _entry_of(incident: Incident) -> Entry | None:
    names = (incident.root_cause, f"logs/{incident.kind}")
    found = (entry for name in names for entry in find_entries(name) if entry.kind is EntryKind.INCIDENT)
    return next(found, None)
