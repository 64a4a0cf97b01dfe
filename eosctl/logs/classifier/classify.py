"""Find the category and the fields of a record.

Kafka's logs repeat the same sentence with other numbers thousands of times. Verdicts are cached by the text with its
digits blurred, so no pattern of the catalog may distinguish digits. Every character keeps its position in the blurred
text, so the cache stores the positions of fields.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, cached_property, lru_cache
from typing import Final, NamedTuple

from eosctl.logs.classifier.catalog import Catalog, Category, Weight, load_catalog
from eosctl.logs.classifier.client_errors import category_of_error
from eosctl.logs.classifier.code_numbers import names_of_codes
from eosctl.logs.classifier.mentions import counts_nothing, is_report
from eosctl.logs.classifier.throwable import parse_inline, parse_throwable
from eosctl.logs.records.anchors import WORK
from eosctl.logs.records.digits import TEXT_BLUR
from eosctl.logs.records.forms import Forms, Span, form_of
from eosctl.logs.records.literals import required_literal
from eosctl.logs.records.record import Classified, Record
from eosctl.model.event_names import EventField
from eosctl.model.log_event import ERROR_LEVELS, FATAL_LEVELS, NOISE, UNCLASSIFIED
from eosctl.model.redaction import masked, redact_text, secret_spans

_REMEMBERED: Final = 50_000
_LONGEST_REMEMBERED: Final = 600
MAX_MESSAGE_CHARS: Final = 4096
_LONGEST_TRACE_REMEMBERED: Final = 8192
_SEARCHED_CHARS: Final = 32_768
_LONGEST_NUMBER: Final = 20
"""Sign and digits of a 64-bit number."""
_FRAMES: Final = re.compile(r"^[ \t]+(?:at |\.\.\. \d)[^\n]*\n?", re.MULTILINE)
"""The frames of Java's stack traces: they name code, and are not part of the record's message."""
_CALL: Final = re.compile(
    r"\b(?P<call>[Ii]nit_?[Tt]ransactions|(?:[Cc]ommit|[Aa]bort)_?[Tt]ransaction|[Ss]end_?[Oo]ffsets_?[Tt]o_?[Tt]ransaction)"
    r" ?\("
)
"""A call of a transactional producer in a stack trace, which is all that some clients report about a time-out."""
_OUT_OF_MEMORY: Final = "OutOfMemoryError"
_ALLOCATING: Final = ("NetworkReceive.readFrom", "SkimpyOffsetMap.<init>")
"""Methods that need much memory in one piece: for a message by its length, and for the buffer of the log cleaner."""
_UNCAUGHT: Final = 'Exception in thread "main"'
_SERVER_MAIN: Final = re.compile(
    r"\bat (?:kafka\.(?:Kafka|tools\.StorageTool)|org\.apache\.kafka\.tools\.StorageTool)\$?\.main\("
)
"""The programs of a server's start: the server, and the tool that formats its directories."""
_OF_SERVER: Final = "main of a Kafka server"
_TRACEBACK: Final = "Traceback (most recent call last)"
_ACTING: Final = frozenset({Weight.ACT, Weight.CRITICAL})
_CALLS: Final = ("InitTransactions", "CommitTransaction", "AbortTransaction", "SendOffsetsToTransaction")
_OF_CLIENT: Final = re.compile(
    r"\bkafka server: [A-Z]|\bKafkaError[{(]|\bRD_KAFKA_RESP_ERR_|\b[A-Z]{3,20}(?:_[A-Z]{2,20})+: [A-Z][a-z]"
    r"|\[\d{1,3}\] (?:[A-Z][a-z]+ ){2,6}?[A-Z][a-z]+: [a-z]"
)
"""Words before an error that only clients print: no level of errors is needed to know that they report one."""
_OTHER_WORDS: Final = "TROUBLE_IN_OTHER_WORDS"
"""The category of a warning in a program's own words, which may have Kafka's name of the error with them."""
_REPEATED: Final = "SEND_REPEATED"
_FINAL: Final = frozenset(
    {
        *("AUTHENTICATION_FAILED", "AUTHZ_CLUSTER", "AUTHZ_OTHER", "AUTHZ_TXN_ID", "INVALID_RECORD", "INVALID_TOPIC"),
        *("RECORD_TOO_LARGE", "REQUEST_REFUSED", "UNSUPPORTED_VERSION"),
    }
)
"""Errors that a batch gets again with each attempt."""
_UNSURE: Final = frozenset({"", "WARN"})
_NAME: Final = re.compile(r"\(\?P<(\w+)>")


def _of_frames(text: str, rest: str) -> str:
    """Return what only the frames of a stack trace show, in words: a call that timed out, a message, or a server."""
    if _OUT_OF_MEMORY in text:
        return next((place for place in _ALLOCATING if place in rest), "")
    if _UNCAUGHT in text and _SERVER_MAIN.search(rest):
        return _OF_SERVER
    return _call_timed_out(text, rest)


def _call_timed_out(text: str, rest: str) -> str:
    """Return which call of a transactional producer timed out, in librdkafka's words; empty if the trace has none."""
    if "imed out" not in text and "TIMED_OUT" not in text:
        return ""
    found = _CALL.search(rest)
    if found is None:
        return ""
    words = found["call"].replace("_", "").lower()
    return next(f"{name} timed out" for name in _CALLS if name.lower() == words)


def _cut_frames(rest: str) -> str:
    return _FRAMES.sub("", rest[:_SEARCHED_CHARS])


_cut_frames_once = lru_cache(maxsize=512)(_cut_frames)
"""The same failure repeats in the same place."""


def _without_frames(rest: str) -> str:
    return (_cut_frames if len(rest) > _LONGEST_TRACE_REMEMBERED else _cut_frames_once)(rest)


class _Verdict(NamedTuple):
    """The result that all records share if they differ in digits only.

    Attributes:
        rule: The rule of the category; None without one.
        spans: The fields: name, and where the value starts and ends in the text.
        secrets: Where secrets start and end in the text, including further lines.
    """

    rule: _Rule | None
    spans: tuple[Span, ...]
    secrets: tuple[tuple[int, int], ...]


class Classifier:
    """Classifies records by a catalog, with a bounded cache of verdicts, so that repeated texts cost one lookup."""

    def __init__(self, catalog: Catalog | None = None) -> None:
        self._catalog = catalog or load_catalog()
        self._rules = tuple(_Rule(category) for category in self._catalog.categories)
        self._literals = tuple((literal, rule) for rule in self._rules for literal in rule.literals)
        self._literals_of_work = tuple(one for one in self._literals if one[1].category.id == WORK)
        self._server_fatal = next((rule for rule in self._rules if rule.category.id == "SERVER_FATAL"), None)
        self._common_fields = tuple(_Pattern(pattern) for pattern in self._catalog.common_fields)
        self._verdicts: dict[str, _Verdict] = {}
        self.forms = Forms()
        """The forms of records that the scanner need not parse and classify again."""

    def classify(self, record: Record) -> Classified | None:
        """Classify a record.

        Returns:
            None for an irrelevant record, which has no category, no throwable, and no error level.
        """
        if form := self.forms.get(record.key):
            return form.classify(record.message)
        name = f"[{record.logger.rpartition('.')[2]}] "
        text = f"{name}{record.message}"
        if record.rest:
            text = f"{text}\n{_without_frames(record.rest)}"
        codes = "\n".join(filter(None, (names_of_codes(text), _of_frames(text, record.rest) if record.rest else "")))
        if codes:
            text = f"{text}\n{codes}"
        verdict = self._verdict(record, text)
        classified = self._classified(record, text, verdict, len(name))
        # The digits of an error code decide the category.
        if record.key and not codes and self.forms.expect(record.key):
            self._learn(record, text, verdict, classified, len(name))
        return classified

    def _classified(self, record: Record, text: str, verdict: _Verdict, message_start: int) -> Classified | None:
        rule, spans, secrets = verdict
        exception = parse_throwable(record.thrown_text) if record.rest else None
        if rule is None and exception is None and record.level not in ERROR_LEVELS:
            return None
        message = record.message[:MAX_MESSAGE_CHARS]
        if secrets:
            fields = {name: masked(text, secrets, start, end) for name, start, end in spans}
            if "thrown" in fields:
                fields["thrown"] = next(
                    _masked_cause(text[start:end]) for name, start, end in spans if name == "thrown"
                )
            message = masked(text, secrets, message_start, message_start + len(message))
        else:
            fields = {name: text[start:end] for name, start, end in spans}
        if rule is None:
            return Classified(UNCLASSIFIED, fields, exception, message)
        return Classified(rule.category.id, fields, exception or parse_inline(record.message), message)

    def _learn(
        self, record: Record, text: str, verdict: _Verdict, classified: Classified | None, message_start: int
    ) -> None:
        """Cache the form of a record, unless its digits decide, or it is partly masked, truncated, or undecodable."""
        if record.undecodable or counts_nothing(text.translate(TEXT_BLUR)):
            return
        if classified is None:
            self.forms.learn(record.key, None)
        elif classified.message == record.message:
            spans = ((name, start - message_start, end - message_start) for name, start, end in verdict.spans)
            if form := form_of(record, classified, spans):
                self.forms.learn(record.key, form)

    def _verdict(self, record: Record, text: str) -> _Verdict:
        # The digits of an escape such as \\u0061 decide whether the name of a secret is there.
        if len(text) > _LONGEST_REMEMBERED or "\\u" in text or counts_nothing(text):
            return self._judge(record, text)
        key = f"{record.level} {record.logger} {text.translate(TEXT_BLUR)}"
        try:
            return self._verdicts[key]
        except KeyError:
            pass
        if len(self._verdicts) >= _REMEMBERED:
            self._verdicts.clear()
        verdict = self._verdicts[key] = self._judge(record, text)
        return verdict

    def _judge(self, record: Record, text: str) -> _Verdict:
        rule = self._matching(record, text)
        if rule is None or rule.category.id == _OTHER_WORDS:
            rule = self._named(record, text) or rule
        elif rule.category.id == _REPEATED and _OF_CLIENT.search(text):
            rule = self._named_final(text) or rule
        if rule is not None and _TRACEBACK in record.rest and rule.category.weight not in _ACTING:
            rule = self._of_traceback(record, text) or rule
        if rule is not None and record.rest and rule.category.weight is not Weight.CRITICAL:
            rule = self._of_ended_server(record) or rule
        if rule is not None and record.level in FATAL_LEVELS and rule.category.weight is Weight.BENIGN:
            # What is ordinary otherwise has ended this program.
            rule = rule if rule.category.id == NOISE else None
        if rule is None and not record.rest and record.level not in ERROR_LEVELS:
            return _Verdict(None, (), ())
        return _Verdict(rule, self._spans(rule.fields if rule else (), text), secret_spans(text))

    def _matching(self, record: Record, text: str) -> _Rule | None:
        """Return the first rule that matches; most are ruled out by one search for a literal each."""
        refused = None
        for literal, rule in self._literals_of_work if record.is_only_work else self._literals:
            if literal in text and rule is not refused:
                if rule.matches(record, text):
                    return rule
                refused = rule
        return None

    def _of_traceback(self, record: Record, text: str) -> _Rule | None:
        """Return the rule of an error that Python printed below a record of its log, which it does not belong to."""
        acting = (rule for rule in self._rules if rule.category.weight in _ACTING)
        return next((rule for rule in acting if rule.matches(record, text)), None)

    def _of_ended_server(self, record: Record) -> _Rule | None:
        """Return the rule of a server's end, if a record reports one: the exception below it is only the reason.

        What a running program recovers from, such as a name that DNS does not know, has ended this one.
        """
        ended = self._server_fatal
        return ended if ended is not None and ended.matches(record, record.message) else None

    def _named(self, record: Record, text: str) -> _Rule | None:
        """Return the rule of an error that a record names: at the level of errors, or in a client's way."""
        if record.level not in ERROR_LEVELS and (record.level not in _UNSURE or not _OF_CLIENT.search(text)):
            return None
        category = category_of_error(text)
        return next((rule for rule in self._rules if rule.category.id == category), None)

    def _named_final(self, text: str) -> _Rule | None:
        """Return the rule of the error that a pipeline repeats a batch after, if no attempt can succeed."""
        category = category_of_error(text)
        return next((rule for rule in self._rules if rule.category.id == category and category in _FINAL), None)

    def _spans(self, own: tuple[_Pattern, ...], text: str) -> tuple[Span, ...]:
        spans: dict[EventField, Span] = {}
        for pattern in (*own, *self._common_fields):
            if pattern.literal in text and not pattern.names <= spans.keys():
                found = pattern.search(text)
                named: Mapping[EventField, str] = found.groupdict() if found else {}  # type: ignore[assignment]
                for name, value in named.items():
                    if value and value not in ("null", "None") and found is not None and not _is_endless(value):
                        spans.setdefault(name, (name, *found.span(name)))
        return tuple(spans.values())


def _is_endless(value: str) -> bool:
    """Return whether a text has more digits than any number of Kafka, so that it is not an id."""
    return len(value) > _LONGEST_NUMBER and value.lstrip("-").isdecimal()


@cache
def own_classifier() -> Classifier:
    """Return this process's classifier: a Spark worker serves many tasks, and compiling the catalog is slow."""
    return Classifier()


def _masked_cause(text: str) -> str:
    """Mask the secrets of a cause: where its message begins, a setting's value reaches to the end of the line."""
    name, colon, message = text.partition(": ")
    return f"{name}{colon}{redact_text(message)}"


class _Pattern:
    """A pattern with the text that each of its matches must contain.

    It is compiled at its first use: most logs contain the texts of few patterns, and compiling all is slow.
    """

    def __init__(self, pattern: str) -> None:
        self.literal = required_literal(pattern)
        self.names = frozenset(_NAME.findall(pattern))
        self._pattern = pattern

    @cached_property
    def search(self) -> Callable[[str], re.Match[str] | None]:
        """Return the first match in a text."""
        return self._compiled.search

    def reports(self, text: str) -> bool:
        """Return whether a text has a match that is not negated."""
        return any(is_report(text, *found.span()) for found in self._compiled.finditer(text))

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._pattern, re.MULTILINE)


class _Rule:
    """A category with its patterns compiled."""

    def __init__(self, category: Category) -> None:
        self.category = category
        self.fields = tuple(_Pattern(pattern) for pattern in category.fields)
        self._patterns = tuple(_Pattern(pattern) for pattern in category.patterns)

    @property
    def literals(self) -> Iterable[str]:
        """Return the texts of its patterns: each match contains one of them."""
        return dict.fromkeys(pattern.literal for pattern in self._patterns)

    def matches(self, record: Record, text: str) -> bool:
        category = self.category
        if category.levels and record.level not in category.levels:
            return False
        for pattern in self._patterns:
            if pattern.literal in text and pattern.reports(text):
                return not (
                    any(re.search(excluded, record.logger) for excluded in category.loggers_not)
                    or any(re.search(excluded, text) for excluded in category.unless)
                )
        return False
