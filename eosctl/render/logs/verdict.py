"""The verdict of logs in words: the headline, and records that call for action without a known cause."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from eosctl.findings.log_reading import known_share_text, nothing_read_text, unjudged_text, unread_text
from eosctl.findings.other_programs import are_of_other_programs
from eosctl.model.incident import Incident
from eosctl.model.log_evidence import LoggedRecord, UnexplainedRecords
from eosctl.model.log_findings import FileCoverage, LogFindings, Recognition
from eosctl.model.severity import Severity
from eosctl.model.verdict import Resource
from eosctl.render.logs.floods import worst_first
from eosctl.text import count_text, one_line, time_text

NAMED: Final = 3
QUOTED: Final = 160
"""Maximum length of a record's text in the headline."""
_UNEXPLAINED: Final = "unexplained"
_CAUSE: Final = re.compile(r"\bIts last cause: ([\s\S]+)")
_SENTENCE_END: Final = re.compile(r"\.\s")


class RecordPlaceView(msgspec.Struct, frozen=True):
    """A record by its place, ``server.log:812``, with its time and its text."""

    place: str
    time: str | None
    text: str


class UnexplainedView(msgspec.Struct, frozen=True):
    """Records of one category and subject that call for action and that no incident explains."""

    category: str
    severity: str
    resource: Resource
    record_count: int
    first: str | None
    last: str | None
    meaning: str
    next_step: str
    records: tuple[RecordPlaceView, ...]


def unexplained_view(one: UnexplainedRecords) -> UnexplainedView:
    """Put records without a known cause into their machine-readable form."""
    return UnexplainedView(
        category=one.category,
        severity=one.severity.value,
        resource=one.resource,
        record_count=one.record_count,
        first=_moment(one.first_ms),
        last=_moment(one.last_ms),
        meaning=one.meaning,
        next_step=one.next_step,
        records=tuple(RecordPlaceView(record.place, _moment(record.at_ms), record.text) for record in one.records),
    )


def unexplained_row(item: UnexplainedView) -> list[str]:
    """Return records without a known cause as a row between incidents."""
    text = f"{count_text(item.record_count, 'record')}, {item.resource}: {item.meaning}"
    return [item.first or "", item.last or "", item.severity, item.category, "", "", text]


def headline(findings: LogFindings) -> str:
    """Return the verdict: the worst incident, records without a known cause, and input that was not recognized."""
    if nothing := nothing_read_text(findings):
        return nothing
    unread = [*_broken(findings), *(_sentence(unread_text(one)) for one in _unread(findings))]
    more = [f"{count_text(len(unread) - NAMED, 'more file')} not read or recognized."] if len(unread) > NAMED else []
    return " ".join(map(_ended, [*_verdict(findings), *unread[:NAMED], *more]))


def worst_severity(findings: LogFindings) -> Severity | None:
    """Return the severity of the worst incident or record that calls for action; None without any."""
    severities = [one.severity for one in findings.incidents] + [one.severity for one in findings.unexplained]
    return min(severities, key=lambda severity: severity.rank, default=None)


def what_text(one: UnexplainedRecords) -> str:
    """Return the number, category, subject, and time of records."""
    when = ""
    if one.first_ms is not None and one.last_ms is not None:
        begin, end = time_text(one.first_ms), time_text(one.last_ms)
        when = f", at {begin}" if begin == end else f", from {begin} to {end}"
    return f"{count_text(one.record_count, 'record')} of {one.category}, {one.resource}{when}"


def record_text(record: LoggedRecord) -> str:
    """Return where a record is, and its text."""
    return f"{record.place}: {record.text}"


def _verdict(findings: LogFindings) -> list[str]:
    unknown = [one for one in findings.unexplained if one.is_unknown]
    calls = list(_calls([one for one in findings.unexplained if not one.is_unknown]))
    if unknown:
        calls.append(_unknown_text(unknown, has_verdict=bool(calls or findings.incidents)))
    if not findings.incidents:
        is_whole = findings.is_recognized and findings.is_complete
        place = "" if is_whole else " in the recognized records"
        if unjudged := unjudged_text(findings):
            return [f"{unjudged}.", *calls]
        return calls or [f"No incident found{place}{known_share_text(findings)}.", *_tolerated(findings)]
    worst = worst_first(findings.incidents)[0]
    others = len(findings.incidents) - 1
    more = f"; {count_text(others, 'more incident')}" if others else ""
    incident = f"{_first_sentence(worst.explanation)}{_last_cause(worst)} ({worst.confidence:.0%} sure{more})."
    is_worse = any(one.severity.rank < worst.severity.rank for one in findings.unexplained)
    return [*calls, incident] if is_worse else [incident, *calls]


def _tolerated(findings: LogFindings) -> Iterator[str]:
    """Yield the number of errors, or else of warnings, that are not an incident, the first one, and what followed."""
    totals = findings.totals
    count, first, name = totals.error_count, totals.first_error, "error record"
    if first is None:
        count, first, name = totals.problem_count, totals.first_problem, "warning"
    if first is not None:
        are = "is of a kind" if count == 1 else "are of kinds"
        what = f"{count_text(count, name)} {are} that programs often recover from"
        place = f"{first.file}:{first.line}: {_quoted(first.message)}"
        yield f"{what}; {_recovery(findings)}. First: {place}"


def _recovery(findings: LogFindings) -> str:
    """Return whether each program recovered from its errors and warnings, and the record that shows it."""
    overcome = findings.overcome
    returned = (*overcome.working, *overcome.ready) if overcome is not None else ()
    if overcome is None or not returned:
        return "that they did was not checked"
    if len(returned) < overcome.program_count:
        programs = count_text(overcome.program_count, "program")
        return f"{len(returned)} of {programs} did, and of the others no record shows it"
    last = max(returned, key=lambda one: one.time_ms or 0)
    who = "their program" if overcome.program_count == 1 else f"each of {overcome.program_count} programs"
    does = "worked" if not overcome.ready else "was ready or worked" if overcome.working else "was ready"
    return f"{who} {does} again after its last one ({last.file}:{last.line}: {_quoted(last.message)})"


def _quoted(message: str) -> str:
    return one_line(message, QUOTED)


def _first_sentence(text: str) -> str:
    """Return the first sentence without its full stop; one within brackets or quotation marks does not end it.

    >>> _first_sentence('It was refused (Not now. (4 ms)), so it ended. Others run.')
    'It was refused (Not now. (4 ms)), so it ended'
    """
    ends = (found.start() for found in _SENTENCE_END.finditer(text))
    end = next((end for end in ends if _is_balanced(text[:end])), len(text))
    return text[:end].removesuffix(".")


def _last_cause(one: Incident) -> str:
    """Return what an incident whose cause no other record shows says about its exception."""
    found = _CAUSE.search(one.explanation) if one.root_cause == _UNEXPLAINED else None
    return f". Its last cause: {_quoted(_first_sentence(found[1]))}" if found else ""


def _is_balanced(text: str) -> bool:
    """Return whether each bracket and quotation mark of a text is closed."""
    return all(text.count(left) <= text.count(right) for left, right in ("()", "[]")) and text.count('"') % 2 == 0


def _ended(text: str) -> str:
    """Return a part of the headline as a sentence: a quoted record at its end gets a full stop."""
    return text if text.endswith((".", "!", "?", "…")) else f"{text.rstrip(' :;,')}."


def _calls(unexplained: Sequence[UnexplainedRecords]) -> Iterator[str]:
    if not unexplained:
        return
    count = sum(one.record_count for one in unexplained)
    named = ", ".join(f"{one.category} ({one.resource})" for one in unexplained[:NAMED])
    more = f", and {len(unexplained) - NAMED} more" if len(unexplained) > NAMED else ""
    calls = f"{count_text(count, 'record')} {'calls' if count == 1 else 'call'} for action"
    yield f"No known cause; {calls}: {named}{more}."


def _unknown_text(unknown: Sequence[UnexplainedRecords], *, has_verdict: bool) -> str:
    count = sum(one.record_count for one in unknown)
    first = next((f"{record.place}: {record.text}" for one in unknown for record in one.records), "")
    if are_of_other_programs(unknown):
        return f"{count_text(count, 'error')} of other programs, first: {first}"
    what = f"{count_text(count, 'error record')} {'is' if count == 1 else 'are'} not in the catalog, first: {first}"
    return what if has_verdict else f"No known incident. {what}"


def _broken(findings: LogFindings) -> Iterator[str]:
    """Yield the files that were not read to their end."""
    for source in findings.sources:
        if source.error:
            yield f"{source.file} was not read to its end: {source.error}."
    for one in findings.skipped:
        if one.is_failure:
            yield f"{one.file} was not read: {one.reason}."


def _unread(findings: LogFindings) -> list[FileCoverage]:
    return [one for one in findings.coverage if one.recognition in (Recognition.NONE, Recognition.LITTLE)]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _moment(time_ms: int | None) -> str | None:
    return None if time_ms is None else time_text(time_ms)
