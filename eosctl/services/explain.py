"""Explain anything that the product knows: a name, a code, an id, or a text in which some stand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from shlex import quote
from typing import Final, NamedTuple

import msgspec

from eosctl.analysis.pasted_text import plain_text, read_pasted
from eosctl.errors import ProcedureRefused
from eosctl.knowledge.beans import is_bean_name, suggest_beans
from eosctl.knowledge.metrics import find_metrics
from eosctl.knowledge.reference.index import entry_named, find_entries, load_index, names_of, settings_ending
from eosctl.model.reference import Certainty, Entry, EntryKind, Explanation, PastedText
from eosctl.runbooks.refused import find_refused
from eosctl.services.reference.api_versions import find_asked_api, mentioned_apis
from eosctl.services.reference.beans import explain_beans
from eosctl.services.reference.chinese import translated
from eosctl.services.reference.next_steps import filled_entry
from eosctl.services.reference.outputs import ToolOutput, find_outputs
from eosctl.services.reference.printed import find_logged, find_printed
from eosctl.services.reference.similar import ISSUE, similar_names, unknown_error
from eosctl.services.reference.subject import other_subject
from eosctl.services.reference.symptoms import search_symptoms
from eosctl.services.reference.text_index import TextIndex

MOST: Final = 5
"""How many answers one question gets."""
LIKELY: Final = 0.55
"""From this score on, an answer that only resembles the question is given; below it, the nearest are listed."""
_NAMED: Final = 0.97
_NUMBERED: Final = 0.95
_WHOLE_TEXT: Final = 0.98
_SAID: Final = (0.7, 0.025, 0.94)
"""The score of an error's text: for none of its words, for each, and at most."""
_LOGGED: Final = 0.72
_PATTERN: Final = "pattern"
"""What a category's records look like says nothing new about a record of it."""
_PRINTED: Final = re.compile(r"[:'\t\n]")
"""What every output of a tool has, and few sentences do: a sentence needs no patterns of tools."""
_SIGN: Final = 0.9
_TOOL: Final = 0.75
_MENTIONED: Final = 0.6
"""The score of a setting or concept that a sentence mentions."""
_STEP: Final = 0.02
_HOLLOW_COSTS: Final = 0.25
_RESEMBLES: Final = 0.9
_ONE_WORD: Final = 0.6
_NEAR: Final = 0.25
_LONGEST_NAME: Final = 120
_QUESTION: Final = re.compile(
    r"(?i)^(?:so |hi |hello |please |can you |could you )*"
    r"(?:what(?:'s| is| are| does)|explain|define|meaning of|tell me about|describe|what about)"
    r"(?: the| a| an)? (?P<name>.+?)(?: mean(?:s|ing)?| do)?(?: in kafka)?[?？.!]*$"
)
_QUESTION_ZH: Final = re.compile(
    r"^(?:什么是|请问|解释(?:一下)?|何为)?(?P<name>.+?)(?:是什么(?:意思)?|的?含义|什么意思|是啥)?[?？。]*$"
)
_IDENTIFIER: Final = re.compile(r"-?\d+|\w*[._-]\w[\w.-]*|[A-Za-z][a-z]+[A-Z]\w*|[A-Z]{2,}")
"""A word that is a name by its shape: a number, dots or underscores, capitals inside."""
_ASSIGNED: Final = re.compile(
    r"(?P<name>[A-Za-z_][\w-]*[._-][\w.-]*\w)(?:\s*[=:]\s*|\s+(?=\d))(?P<value>[\w.+-]{1,80})"
)
"""A setting or a feature with its value."""
_KIND_WORDS: Final[Mapping[str, frozenset[EntryKind]]] = {
    **dict.fromkeys(("error", "exception", "errors"), frozenset({EntryKind.ERROR, EntryKind.EXCEPTION})),
    **dict.fromkeys(("setting", "config", "property", "parameter"), frozenset({EntryKind.SETTING, EntryKind.MYTH})),
    **dict.fromkeys(("check", "rule"), frozenset({EntryKind.CHECK})),
    **dict.fromkeys(("api", "request"), frozenset({EntryKind.API, EntryKind.MYTH})),
    **dict.fromkeys(("topic", "file"), frozenset({EntryKind.FILE, EntryKind.CONCEPT})),
    **dict.fromkeys(("log category", "category"), frozenset({EntryKind.LOG_CATEGORY})),
    **dict.fromkeys(("metric", "bean", "mbean"), frozenset({EntryKind.METRIC})),
    "alert": frozenset({EntryKind.ALERT}),
    "runbook": frozenset({EntryKind.RUNBOOK}),
    **dict.fromkeys(("state", "transaction"), frozenset({EntryKind.STATE})),
    "feature": frozenset({EntryKind.FEATURE, EntryKind.CONCEPT}),
}
"""The kinds that a word before or after a name stands for."""
_KINDED: Final = tuple(
    re.compile(pattern.format(kind=f"(?P<kind>{'|'.join(_KIND_WORDS)})"), re.IGNORECASE)
    for pattern in (r"{kind}:? (?P<name>\S+)", r"(?P<name>\S+) {kind}")
)
_COMPARED: Final = re.compile(
    r"(?i)^(?:what(?:'s| is) the )?(?:difference between |compare )?(\w[\w .-]*?) "
    r"(?:and|vs\.?|versus|or|compared to) (\w[\w .-]*?)\??$"
)
_NUMBER: Final = re.compile(r"(?<![\w.-])\d+(?![\w-])")
"""A bare number is not a word to search for."""
_METRIC: Final = re.compile(r"\w_\w+_\w|:type=")
_HOLLOW: Final = frozenset(
    {"KafkaException", "StreamsException", "IllegalStateException", "ConnectException", "KafkaError", "_FATAL",
     "KafkaJSNonRetriableError", "FlinkKafkaException", "RetriableException", "TimeoutException"}
)  # fmt: skip
"""Wrappers: what they wrap says more."""
_ANSWERED: Final = frozenset({EntryKind.MYTH, EntryKind.SETTING})
"""What explains by itself why a procedure of its name destroys data."""
_ERRORS: Final = frozenset({EntryKind.ERROR, EntryKind.EXCEPTION})
_WRITTEN: Final = frozenset(
    {
        EntryKind.CONCEPT,
        EntryKind.STATE,
        EntryKind.FILE,
        EntryKind.TOOL,
        EntryKind.FEATURE,
        EntryKind.MYTH,
        EntryKind.RUNBOOK,
        EntryKind.CHECK,
    }
)
_VALUES: Final = frozenset({EntryKind.CONCEPT, EntryKind.FEATURE, EntryKind.STATE})
_IDENTIFIED: Final = frozenset({EntryKind.BUG, EntryKind.KIP, EntryKind.CHECK})


class Explained(NamedTuple):
    """The answers to a question.

    Attributes:
        explanations: The entries that fit, best first; empty when nothing is sure enough.
        nearest: The names of what resembles the question, when nothing is sure enough.
        pasted: What was read out of the question.
    """

    explanations: tuple[Explanation, ...]
    nearest: tuple[str, ...]
    pasted: PastedText


def all_entries() -> tuple[Entry, ...]:
    """Return everything that the reference explains."""
    return tuple(load_index())


def explain(question: str) -> Explained:
    """Return the entries that answer a question.

    Args:
        question: A name, a code, an id, a pasted exception, log line, or stack trace, or words in five languages.
    """
    named = _named(plain_text(question))
    if named:
        return Explained(_filled(named, {}), (), PastedText(plain_text(question)))
    if is_bean_name(question):  # Its words name other things than the bean does.
        return Explained((), suggest_beans(question), PastedText(plain_text(question)))
    pasted = read_pasted(question)
    found = _Offers()
    outputs = find_outputs(pasted.text) if _PRINTED.search(pasted.text) else ()
    found.take(_of_outputs(outputs))
    # The columns of a table are not what it is about.
    found.take(one for one in _of_names(pasted) if one.score > _MENTIONED or not outputs)
    found.take(_of_printed(pasted.text))
    found.take(
        Explanation(_LOGGED, Certainty.LIKELY, "the header of a request", api) for api in mentioned_apis(pasted.text)
    )
    if found.best < _NUMBERED:
        logged = find_logged(pasted.text)
        found.take(_of_logs(one.category for one in logged))
        fields = {name: value for one in logged for name, value in one.values.items()}
        pasted = msgspec.structs.replace(pasted, values=_with_fields(pasted.values, fields))
    if _IDENTIFIER.fullmatch(pasted.text.strip()):
        found.take(
            Explanation(_LOGGED, Certainty.LIKELY, "its name ends so", entry)
            for entry in settings_ending(pasted.text.strip())
        )
    elif found.best <= _MENTIONED and not ISSUE.fullmatch(pasted.text.strip()):
        text = translated(pasted.text)
        found.take(() if other_subject(text) else _of_words(text))
    ranked = found.ranked()
    sure = tuple(one for one in ranked if one.score >= LIKELY)[:MOST]
    nearest = () if sure else _nearest(translated(pasted.text), ranked)
    return Explained(_filled(sure, pasted.values), nearest, pasted)


class _Offers:
    """Candidates: of one entry, the best reason counts."""

    def __init__(self) -> None:
        self._found: dict[tuple[EntryKind, str], Explanation] = {}

    def take(self, offers: Iterable[Explanation]) -> None:
        for one in offers:
            key = (one.entry.kind, one.entry.name)
            if key not in self._found or self._found[key].score < one.score:
                self._found[key] = one

    @property
    def best(self) -> float:
        return max((one.score for one in self._found.values()), default=0.0)

    def ranked(self) -> tuple[Explanation, ...]:
        return tuple(sorted(self._found.values(), key=lambda one: -one.score))


def _named(text: str) -> tuple[Explanation, ...]:
    """Return what a text that is nothing but names names, also as "what is NAME"."""
    if len(text) > MOST * _LONGEST_NAME:
        return ()
    words = text.split()
    is_list = len({word.lstrip("-").isdigit() for word in words}) == 1  # "transaction.version 2" is not a list
    if 1 < len(words) <= MOST and is_list and all(_IDENTIFIER.fullmatch(word) and find_entries(word) for word in words):
        return tuple(
            Explanation(1.0, Certainty.EXACT, f"{word} is its name", find_entries(word)[0])
            for word in dict.fromkeys(words)
        )
    if (compared := _COMPARED.match(text.strip())) and all(map(find_entries, compared.groups())):
        return tuple(
            Explanation(1.0, Certainty.EXACT, f"{name} is its name", find_entries(name)[0])
            for name in compared.groups()
        )
    assigned = _ASSIGNED.fullmatch(text.strip())
    if assigned and not find_entries(text) and (found := tuple(_of_assigned(assigned["name"], assigned["value"]))):
        return found
    for name in name_candidates(text):
        entries = find_entries(name) or _of_kind(name) or _metrics(name) or _api(name) or explain_beans(name)
        if entries:
            first = entries[0]
            # A word in its own spelling means one thing; another spelling may mean several.
            chosen = entries[:1] if first.name == name.strip() else entries[:MOST]
            return tuple(
                Explanation(round(1 - _STEP * at, 2), Certainty.EXACT, f"{name.strip()} is its name", entry)
                for at, entry in enumerate(chosen)
            )
    return ()


def _of_kind(text: str) -> tuple[Entry, ...]:
    """Return the entries of "runbook NAME", "NAME API", and the like."""
    for pattern in _KINDED:
        if kinded := pattern.fullmatch(text.strip()):
            kinds = _KIND_WORDS[kinded["kind"].lower()]
            return tuple(entry for entry in find_entries(kinded["name"]) if entry.kind in kinds)
    return ()


def _of_assigned(name: str, value: str) -> Iterator[Explanation]:
    """Yield the setting or feature of "NAME=VALUE", and what the value names."""
    for entry in find_entries(name)[:1]:
        yield Explanation(1.0, Certainty.EXACT, f"{name} is its name", entry)
        if not value.lstrip("-").isdigit():
            for meant in find_entries(value)[:1]:
                if meant.kind in _VALUES and meant != entry:
                    yield Explanation(0.99, Certainty.EXACT, f"{value} is its name", meant)


def _api(name: str) -> tuple[Entry, ...]:
    asked = find_asked_api(name)
    return () if asked is None else (asked,)


def _metrics(name: str) -> tuple[Entry, ...]:
    is_sentence = " " in name and ":type=" not in name
    return () if is_sentence or not _METRIC.search(name) else metrics_named(name)


def metrics_named(name: str) -> tuple[Entry, ...]:
    """Return the metrics of a name in one of the spellings that exporters give it."""
    names = dict.fromkeys(metric.name for metric in find_metrics(name))
    return tuple(entry for one in names for entry in find_entries(one) if entry.kind is EntryKind.METRIC)


def name_candidates(text: str) -> Iterator[str]:
    """Yield what a short text may name: itself, what it asks about, and both in English."""
    whole = text.strip()
    if not whole or len(whole) > _LONGEST_NAME:
        return
    yield whole
    for pattern in (_QUESTION, _QUESTION_ZH):
        if asked := pattern.match(whole):
            yield asked["name"]
            yield translated(asked["name"])
    yield translated(whole)


def _of_names(pasted: PastedText) -> Iterator[Explanation]:
    rank = 0
    for name in pasted.names:
        for entry in find_entries(name)[:2]:
            if entry.kind in _ERRORS or entry.kind in _IDENTIFIED:
                score = _NAMED - _STEP * rank - (_HOLLOW_COSTS if entry.name in _HOLLOW else 0)
                yield Explanation(round(max(score, LIKELY), 2), Certainty.EXACT, f"the text names {name}", entry)
                rank += 1
            else:
                yield Explanation(_MENTIONED, Certainty.LIKELY, f"the text mentions {name}", entry)
    for number in pasted.numbers:
        for entry in find_entries(str(number))[:1]:
            yield Explanation(_NUMBERED, Certainty.EXACT, f"the text has error code {number}", entry)


def _of_outputs(outputs: Iterable[ToolOutput]) -> Iterator[Explanation]:
    """Yield the signs of a fault in what Kafka's tools printed, and the tools."""
    for output in outputs:
        for at, one in enumerate(output.signs):
            entry = entry_named(one.sign.runbook or one.sign.entry)
            reason = f"{output.tool.name} printed {one.sign.says}"
            yield Explanation(round(_SIGN - _STEP * at, 2), Certainty.LIKELY, reason, entry)
        yield Explanation(_TOOL, Certainty.LIKELY, f"{output.tool.name} printed this", output.tool)


def _of_printed(text: str) -> Iterator[Explanation]:
    first, step, most = _SAID
    for one in find_printed(text):
        cost = _HOLLOW_COSTS if one.entry.name in _HOLLOW else 0
        score = _WHOLE_TEXT if one.is_whole else min(first + step * len(one.phrase.split()), most) - cost
        certainty = Certainty.EXACT if one.is_whole else Certainty.LIKELY
        yield Explanation(round(score, 2), certainty, f"its text: {one.phrase}", one.entry)


def _of_logs(categories: Iterable[str]) -> Iterator[Explanation]:
    for at, category in enumerate(categories):
        for entry in find_entries(category):
            if entry.kind is EntryKind.LOG_CATEGORY:
                score = round(max(_LOGGED - _STEP * at, LIKELY), 2)
                shown = tuple(fact for fact in entry.facts if fact.label != _PATTERN)
                found = msgspec.structs.replace(entry, facts=shown)
                yield Explanation(score, Certainty.LIKELY, "a log record of this category", found)


def _of_words(text: str) -> Iterator[Explanation]:
    """Search names and symptoms."""
    index, entries = _name_index()
    for hit in index.search(_NUMBER.sub(" ", text)):
        # One word of a longer name says little, unless it is what people call a concept by.
        is_enough = len(hit.words) > 1 or hit.score >= _NAMED or entries[hit.at].kind is EntryKind.CONCEPT
        resembles = _RESEMBLES if is_enough else _ONE_WORD
        score = round(hit.score * resembles, 2)
        certainty = Certainty.LIKELY if score >= LIKELY else Certainty.POSSIBLE
        yield Explanation(score, certainty, f"its name has {', '.join(hit.words)}", entries[hit.at])
    for match in search_symptoms(text):
        score = round(match.score * _RESEMBLES, 2)
        certainty = Certainty.LIKELY if score >= LIKELY else Certainty.POSSIBLE
        yield Explanation(score, certainty, f"a symptom: {match.symptom}", match.entry)


@cache
def _name_index() -> tuple[TextIndex, tuple[Entry, ...]]:
    pairs = tuple((_words(name), entry) for entry in load_index() for name in _searched(entry))
    return TextIndex([words for words, _ in pairs]), tuple(entry for _, entry in pairs)


def _searched(entry: Entry) -> tuple[str, ...]:
    """Return the names to search: all that people wrote, and of generated entries the first.

    Settings and incidents are looked up by their name, with or without dots; an exception is found by its error.
    """
    if entry.kind in _WRITTEN:
        return names_of(entry)
    is_found_otherwise = entry.kind in (EntryKind.SETTING, EntryKind.INCIDENT) or (
        entry.kind is EntryKind.EXCEPTION and entry.code is not None
    )
    return () if is_found_otherwise else (entry.name,)


def _words(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[_./-]", " ", name)


def _nearest(text: str, ranked: tuple[Explanation, ...]) -> tuple[str, ...]:
    """Return the names of what is nearest: by words, then by spelling."""
    by_words = [one.entry.name for one in ranked if one.score >= _NEAR]
    return tuple(dict.fromkeys((*by_words, *similar_names(text, MOST))))[:MOST]


def _filled(explanations: tuple[Explanation, ...], values: Mapping[str, str]) -> tuple[Explanation, ...]:
    return tuple(msgspec.structs.replace(one, entry=filled_entry(one.entry, values)) for one in explanations)


def _with_fields(values: dict[str, str], fields: Mapping[str, str]) -> dict[str, str]:
    """Return the ids of a text with those that its log records name."""
    named = {name: fields[name] for name in ("transactional_id", "group") if name in fields}
    topic, _, partition = fields.get("partition", "").rpartition("-")
    place = {"topic": topic, "partition": partition, "topic_partition": f"{topic}-{partition}"}
    return values | named | (place if topic else {})


def answer(question: str) -> Explained:
    """Return the entries that answer a question, or refuse it.

    Args:
        question: As for `explain`.

    Raises:
        ProcedureRefused: It asks for a procedure that destroys data, and is neither a myth nor a setting.
        UsageError: No entry fits.
    """
    found = explain(question)
    first = next(iter(found.explanations), None)
    if first is None or first.certainty is not Certainty.EXACT or first.entry.kind not in _ANSWERED:
        _refuse_procedures(question)
    if not found.explanations:
        raise unknown_error(question, found.nearest)
    return found


def _refuse_procedures(text: str) -> None:
    """Refuse words that ask for a procedure that destroys data, and name the safe way."""
    for one in find_refused(text):
        raise ProcedureRefused(f"REFUSED: {one.name}.", one.why, f"{one.instead} See: eosctl diagnose {quote(text)}")
