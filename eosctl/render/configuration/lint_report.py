"""A lint run as a report of findings."""

from __future__ import annotations

from eosctl.findings.linted import Linted
from eosctl.render.configuration.lint_view import undecided_item
from eosctl.render.diagnosis.finding_report import rules_of
from eosctl.render.findings.report import FindingReport, Note, NoteLevel
from eosctl.text import count_text


def lint_report(linted: Linted) -> FindingReport:
    """Return what the renderers of findings show of a lint run."""
    unreadable = [Note(NoteLevel.ERROR, one.error.what, one.file) for one in linted.unreadable]
    undecided = [
        Note(NoteLevel.WARNING, f"{one.key} was not judged: the files do not have its value.", one.file, one.line)
        for one in map(undecided_item, linted.undecided)
    ]
    not_understood = [
        Note(NoteLevel.WARNING, "is about Kafka, and was not understood: no rule has judged it.", file)
        for file in linted.not_understood
    ]
    unseen = [
        Note(NoteLevel.WARNING, f"{one.reads} is not among the files: no rule has judged it.", *one.place)
        for one in linted.unseen
    ]
    without = len(linted.without_settings)
    return FindingReport(
        command="config lint",
        diagnosis=linted.diagnosis,
        generated_at_ms=linted.generated_at_ms,
        groups=linted.groups,
        actions=linted.actions,
        rules=rules_of(linted.manuals),
        metric_prefix="eosctl_lint",
        is_graded=False,
        about=(f"Configuration: {count_text(len(linted.read), 'file')}, {without} without Kafka settings.",),
        read_as=linted.read_as,
        notes=(*unreadable, *not_understood, *unseen, *undecided),
        file_count=len(linted.read),
    )
