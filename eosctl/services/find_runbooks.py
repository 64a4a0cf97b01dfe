"""From a symptom, a stack trace, or a log excerpt to the runbooks for it, each with the reason for its rank."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from eosctl.analysis.pasted_text import plain_text, read_pasted
from eosctl.errors import UsageError
from eosctl.input_file import is_file, open_input
from eosctl.knowledge.reference.index import entry_named, find_entries
from eosctl.model.reference import LONGEST_PASTED, Entry, EntryKind, RunbookMatch
from eosctl.model.severity import Severity
from eosctl.runbooks.refused import Mood, Recognized, recognize
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.explain import LIKELY, name_candidates
from eosctl.services.reference.chinese import translated
from eosctl.services.reference.next_steps import filled_entry
from eosctl.services.reference.outputs import ToolOutput, find_outputs
from eosctl.services.reference.printed import find_logged, find_printed
from eosctl.services.reference.subject import other_subject
from eosctl.services.reference.symptoms import (
    SymptomMatch,
    deciding_question,
    find_shown,
    runbook_of_category,
    search_symptoms,
)

MOST: Final = 5
_COLUMNS: Final = re.compile(r"[\n\t]|\S {2,}\S|: \S+ \S+: ")
"""Several lines, columns, or labeled values: what a tool prints, and a sentence is not."""
_CAPITAL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
SURE: Final = 0.45
"""Below this score the best match is shown as a guess, with the question that decides."""
_TIE: Final = 0.07
"""Two symptoms whose scores differ by less fit equally well: neither is sure."""
_LONG: Final = 20
"""In a text of more words, a single word in common with a symptom may be chance."""
_WORTH: Final = 0.2
_QUESTION: Final = 1.0
_NAMED: Final = 0.95
_LATER_RUNBOOK: Final = 0.1
_HOLLOW_COSTS: Final = 0.5
_LATER_NAME: Final = 0.02
_ENTRY_BELOW: Final = 0.01
_PRINTED: Final = 0.85
_LOGGED: Final = 0.8
_SIGN: Final = 0.97
_SHOWN: Final = 0.96
_JUDGED: Final = 0.965
"""The score of a cause that a report of logs is sure of."""
_MAYBE_SIGN: Final = 0.4
"""The score of a sign that a healthy cluster shows, too."""
_TOOL: Final = 0.5
_MENTIONED_TOOL: Final = 0.25
_KINDS: Final = frozenset(
    {
        EntryKind.ERROR,
        EntryKind.EXCEPTION,
        EntryKind.CHECK,
        EntryKind.BUG,
        EntryKind.ALERT,
        EntryKind.LOG_CATEGORY,
        EntryKind.STATE,
    }
)
"""What a text reports; anything else that it names is a subject."""
_REPORTED_KINDS: Final = frozenset(
    {EntryKind.ERROR, EntryKind.EXCEPTION, EntryKind.CHECK, EntryKind.BUG, EntryKind.ALERT}
)
_HOLLOW: Final = frozenset(
    {
        "KafkaException",
        "StreamsException",
        "IllegalStateException",
        "KafkaJSNonRetriableError",
        "ConnectException",
        "FlinkKafkaException",
        "RetriableException",
        "TransactionAbortableException",
        "TimeoutException",
        "_FATAL",
        "_STATE",
        "_TIMED_OUT",
    }
)
"""Names that many causes share: the words around them say more."""


class FoundRunbooks(NamedTuple):
    """What fits a symptom.

    Attributes:
        refused: Procedures that destroy data and that the text asks for.
        cautions: Such procedures that the text asks about or warns of.
        matches: What fits, best first.
        is_sure: Whether the best match is good enough to begin with.
        other_subject: The word that shows that the text is about another program than Kafka; nothing matches then.
    """

    refused: tuple[Recognized, ...] = ()
    cautions: tuple[Recognized, ...] = ()
    matches: tuple[RunbookMatch, ...] = ()
    is_sure: bool = False
    other_subject: str = ""


def find_runbooks(text: str) -> FoundRunbooks:
    """Return the runbooks and entries for a symptom, and the destructive procedures that the text names.

    Args:
        text: Words in English, Chinese, German, French, or Spanish, a stack trace, a log excerpt, or a tool's output.
    """
    text = plain_text(text)
    recognized = recognize(text)
    outputs = find_outputs(text)
    if not (recognized or outputs) and (subject := other_subject(translated(text))):
        return FoundRunbooks(other_subject=subject)
    best: dict[tuple[EntryKind, str], RunbookMatch] = {}
    symptoms = () if outputs else search_symptoms(translated(text))
    judged = tuple(_of_evidence(text))
    shown = _of_outputs(outputs, is_at_fault=bool(judged))
    named_or_said = tuple(_candidates(text))
    verdicts = _of_verdicts(text, is_exact=any(map(_is_exact, named_or_said)))
    for match in (*shown, *_of_shown(text), *named_or_said, *verdicts, *judged, *_of_symptoms(symptoms)):
        key = (match.entry.kind, match.entry.name)
        if key not in best or best[key].score < match.score:
            best[key] = match
    ranked = tuple(sorted((match for match in best.values() if match.score >= _WORTH), key=lambda match: -match.score))
    values = read_pasted(text).values
    for output in outputs:
        for sign in output.signs[:1]:
            values |= sign.values
    named = tuple(found for found in recognized if found.mood is not Mood.REPORTED)
    # Next to a procedure that destroys data, a weak match only distracts.
    matches = tuple(_completed(match, values) for match in ranked[:MOST] if not named or match.score >= LIKELY)
    return FoundRunbooks(
        refused=tuple(found for found in recognized if found.mood is Mood.ORDERED),
        cautions=tuple(found for found in named if found.mood is not Mood.ORDERED),
        matches=matches,
        is_sure=bool(matches) and matches[0].score >= SURE and not _is_chance(matches[0], symptoms, text),
    )


def unknown_symptom(found: FoundRunbooks) -> UsageError:
    """Return the error for a symptom without a runbook; a pasted one may be a secret, and is not repeated."""
    if found.other_subject:
        return UsageError(
            "Nothing in the text is about Kafka, so no runbook is named.",
            f"It is about another program: {found.other_subject!r}.",
            "If Kafka is involved, add what it shows: the exception of its client, or the output of its tools.",
        )
    return UsageError(
        "No runbook is known for this symptom.",
        "None of its words is in a symptom.",
        "Try eosctl doctor for the cluster, eosctl explain WORD for a word, or eosctl runbook list.",
    )


def _is_chance(first: RunbookMatch, symptoms: Sequence[SymptomMatch], text: str) -> bool:
    """Return whether another symptom fits as well as the best, or only one word of a long text led to it."""
    if not symptoms or (symptoms[0].entry.name, symptoms[0].score) != (first.entry.name, first.score):
        return False
    is_tied = len(symptoms) > 1 and symptoms[0].score - symptoms[1].score < _TIE
    return is_tied or (len(symptoms[0].words) == 1 and len(text.split()) > _LONG)


def _completed(match: RunbookMatch, values: Mapping[str, str]) -> RunbookMatch:
    entry = filled_entry(match.entry, values)
    return msgspec.structs.replace(match, entry=entry, decide=match.decide or _question_of(match.entry))


def _question_of(entry: Entry) -> str:
    """Return the question of an entry, or of the error whose exception it is."""
    error = _CAPITAL.sub("_", entry.name.removesuffix("Exception")).upper()
    return deciding_question(entry.name) or (deciding_question(error) if entry.kind is EntryKind.EXCEPTION else "")


def runbook_command(runbook: str) -> str:
    """Return the command that runs a runbook, with a word in capitals for each input that must be given."""
    return filled_entry(_runbook(runbook), {}).next_steps[0] if runbook else ""


def _of_outputs(outputs: Iterable[ToolOutput], *, is_at_fault: bool) -> Iterator[RunbookMatch]:
    """Yield the signs in outputs, and their tools; `is_at_fault` says that checks found something in them."""
    for output in outputs:
        for at, (sign, _) in enumerate(output.signs):
            reason = f"{output.tool.name} printed {sign.says}"
            score = round((_MAYBE_SIGN if sign.decide else _SIGN) - _LATER_NAME * at, 3)
            yield RunbookMatch(score, entry_named(sign.runbook or sign.entry), sign.says, reason, sign.decide)
        has_fault = is_at_fault or bool(output.signs)
        reason = (
            f"{output.tool.name} printed this{'' if has_fault else '; no check and no known sign finds a fault in it'}"
        )
        yield RunbookMatch(_MENTIONED_TOOL if has_fault else _TOOL, output.tool, "output of a tool", reason)


def _of_shown(text: str) -> Iterator[RunbookMatch]:
    """Yield what several signs in a text show together: they say more than the name of an error."""
    for at, (entry, symptom) in enumerate(find_shown(translated(text))):
        reason = f"the text has every sign of {symptom.says[0]!r}"
        yield RunbookMatch(round(_SHOWN - _LATER_NAME * at, 3), entry, symptom.says[0], reason, symptom.decide)


def _of_symptoms(symptoms: Iterable[SymptomMatch]) -> Iterator[RunbookMatch]:
    for found in symptoms:
        reason = f"it has {', '.join(found.words)} in common with {found.symptom!r}"
        yield RunbookMatch(found.score, found.entry, found.symptom, reason)


def _candidates(text: str) -> Iterator[RunbookMatch]:
    pasted = read_pasted(text)
    yield from _of_question(pasted.text)
    rank = 0
    for name in pasted.names:
        for entry in find_entries(name)[:2]:
            if entry.kind in _REPORTED_KINDS or (entry.kind is EntryKind.METRIC and entry.runbooks):
                score = _NAMED - _LATER_NAME * rank - (_HOLLOW_COSTS if entry.name in _HOLLOW else 0)
                yield from _of_entry(entry, score, name, f"the text names {name}")
                rank += 1
    for number in pasted.numbers:
        for entry in find_entries(str(number))[:1]:
            score = _NAMED - (_HOLLOW_COSTS if entry.name in _HOLLOW else 0)
            yield from _of_entry(entry, score, entry.name, f"the text has error code {number}")
    for printed in find_printed(pasted.text):
        words = len(printed.phrase.split())
        score = min(0.6 + 0.05 * words, _PRINTED) - (
            0.3 if printed.entry.name in _HOLLOW and not printed.is_whole else 0
        )
        yield from _of_entry(printed.entry, score, printed.phrase, f"the text says {printed.phrase!r}")
    for at, logged in enumerate(find_logged(pasted.text)):
        runbook = runbook_of_category(logged.category)
        if runbook:
            records = "a log record" if logged.record_count == 1 else f"{logged.record_count} log records"
            reason = f"{records} of category {logged.category}"
            yield RunbookMatch(round(_LOGGED - 0.05 * at, 3), _runbook(runbook), logged.category, reason)


def _is_exact(match: RunbookMatch) -> bool:
    """Return whether a text names an error that has a question of its own."""
    return match.score >= _LOGGED and match.entry.kind is not EntryKind.RUNBOOK and bool(_question_of(match.entry))


def _of_verdicts(text: str, *, is_exact: bool) -> Iterator[RunbookMatch]:
    """Yield what a report of logs concludes from the records in a text: its causes, with what to do.

    Next to an error that has a question of its own (`is_exact`), only a loss of data goes first.
    """
    if not find_logged(text):
        return
    from eosctl.services.reference.judged import judge_pasted  # loads the judge of logs, which a sentence does not need

    for at, (entry, incident) in enumerate(judge_pasted(text)):
        is_first = not is_exact or incident.severity.at_least(Severity.CRITICAL)
        score = round((_JUDGED if is_first else _LOGGED) - _LATER_NAME * at, 3)
        reason = f"the log records show it: {incident.explanation}"
        for runbook in entry.runbooks[:1]:
            yield RunbookMatch(score, _runbook(runbook), entry.name, reason, incident.next_step)
            score = round(score - _ENTRY_BELOW, 3)
        yield RunbookMatch(score, entry, entry.name, reason, incident.next_step)


def _of_evidence(text: str) -> Iterator[RunbookMatch]:
    """Yield what checks find in a text that one of Kafka's tools printed."""
    if not _COLUMNS.search(text):
        return
    from eosctl.services.tool_output import judge_text  # loads every check, which a sentence does not need

    for finding in judge_text(text, 0)[0]:
        for entry in find_entries(finding.check_id)[:1]:
            reason = f"the output of Kafka's tool shows it: {finding.message}"
            score = _PRINTED if finding.severity.at_least(Severity.WARNING) else _MAYBE_SIGN
            yield from _of_entry(entry, score, finding.title, reason)


def _of_question(text: str) -> Iterator[RunbookMatch]:
    """Yield what a text asks about, when it is nothing but a name or asks for a meaning."""
    whole = text.strip()
    for name in name_candidates(text):
        entries = find_entries(name)
        if not entries:
            continue
        is_question = name.strip() not in (whole, translated(whole))
        entry = entries[0]
        if is_question or entry.kind in _KINDS:
            reason = "the text asks what it is" if is_question else f"{name.strip()} is its name"
            yield from _of_entry(entry, _QUESTION if is_question else _NAMED, entry.name, reason, is_question)
        return


def _of_entry(
    entry: Entry, score: float, symptom: str, reason: str, is_question: bool = False
) -> Iterator[RunbookMatch]:
    """Yield an entry and its runbooks: these first, unless the entry itself was asked about or has its own question."""
    if entry.kind is EntryKind.RUNBOOK:
        yield RunbookMatch(score, entry, symptom, reason)
        return
    is_exact = bool(_question_of(entry))
    is_first = is_question or is_exact or not entry.runbooks
    yield RunbookMatch(round(score if is_first else score - _ENTRY_BELOW, 3), entry, symptom, reason)
    for at, runbook in enumerate(entry.runbooks):
        below = _LATER_RUNBOOK * (at + is_question) + _ENTRY_BELOW * is_exact
        yield RunbookMatch(round(score - below, 3), _runbook(runbook), symptom, reason)


def _runbook(name: str) -> Entry:
    return next(entry for entry in find_entries(name) if entry.kind is EntryKind.RUNBOOK)


def read_symptom(words: Sequence[str], callbacks: Callbacks = SILENT) -> str:
    """Return the symptom that arguments name: their words, or the first MiB of a file; a remark names a longer one.

    Raises:
        UsageError: The file cannot be read.
    """
    if len(words) == 1 and is_file(words[0]):
        try:
            with open_input(words[0]) as file:
                data = file.read(LONGEST_PASTED + 1)
        except OSError as error:
            raise UsageError(f"Cannot read {words[0]}.", error.strerror or str(error), "Check the path.") from error
        if len(data) > LONGEST_PASTED:
            callbacks.remark(f"note: only the first MiB of {words[0]} was read; eosctl logs report reads whole logs.")
        return data[:LONGEST_PASTED].decode("utf-8", "replace")
    return " ".join(words)
