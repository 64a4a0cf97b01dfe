"""The marks of a lint in an open file: findings, what was not judged, and what could not be read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from eosctl.findings.diagnosis import CheckStatus
from eosctl.findings.finding import Finding
from eosctl.findings.linted import Linted
from eosctl.model.read_as import sentence
from eosctl.model.redaction import redact_text
from eosctl.model.severity import Severity
from eosctl.text import count_text

_LINE: Final = re.compile(r":(\d+): ")


class Mark(NamedTuple):
    """A mark on a line.

    Attributes:
        line: The line, from 0.
        start: The first marked character, from 0, in code points.
        end: The one after the last.
        severity: How bad it is.
        code: The id of the check; empty for what was not judged.
        message: What an editor shows.
    """

    line: int
    start: int
    end: int
    severity: Severity
    code: str
    message: str


def marks_of(linted: Linted, text: str) -> tuple[Mark, ...]:
    """Return the marks of a run on one file, by line."""
    lines = text.splitlines()

    def mark(line: int, severity: Severity, code: str, message: str) -> Mark:
        return Mark(*_extent(lines, line), severity, code, redact_text(message))

    found = [mark(_line(one), one.severity, one.check_id, _message(one)) for one in linted.findings]
    for one in linted.undecided:
        place = one.value.place or one.component.place
        message = f"{one.value.key} {one.reason}: no rule has judged it."
        found.append(mark(place.line, Severity.INFO, "", message))
    for broken in linted.unreadable:
        named = _LINE.search(broken.error.what)
        found.append(mark(int(named[1]) if named else 1, Severity.ERROR, "", f"Not judged: {broken.error}"))
    for place, reads in linted.unseen:
        found.append(mark(place.line, Severity.INFO, "", f"{reads} is not among the files: no rule has judged it."))
    if linted.not_understood:
        message = "This file is about Kafka and was not understood: no rule has judged it."
        found.append(mark(1, Severity.WARNING, "", message))
    return tuple(sorted(found))


def coverage_lines(file: str, linted: Linted | None) -> Iterator[str]:
    """Yield what was judged in a file, and what was not, for the log of the editor."""
    if linted is None:
        yield f"{file}: no settings of Kafka were recognized, so nothing was judged."
        return
    for part in linted.read_as:
        yield f"{file}:{part.line}: read as: {sentence(part)}"
    count = linted.diagnosis.count
    yield (
        f"{file}: {count_text(len(linted.findings), 'finding')}; rules: {count(CheckStatus.PASSED)} passed, "
        f"{count(CheckStatus.FAILED)} failed, {count(CheckStatus.SKIPPED)} skipped. Rules that compare this file with "
        "others need: eosctl config lint FOLDER"
    )


def _message(finding: Finding) -> str:
    parts = (finding.message, finding.cause, finding.impact, " ".join(finding.remedy))
    return "\n".join(part for part in parts if part)


def _line(finding: Finding) -> int:
    return int(dict(finding.facts)["line"])


def _extent(lines: list[str], line: int) -> tuple[int, int, int]:
    """Return a line, from 0, and the extent of its text without blanks at both ends."""
    index = min(max(line - 1, 0), max(len(lines) - 1, 0))
    text = lines[index] if lines else ""
    start = len(text) - len(text.lstrip())
    return index, start, max(len(text.rstrip()), start)
