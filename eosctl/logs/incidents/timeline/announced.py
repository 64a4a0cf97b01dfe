"""Find the transactional ids, groups, and topics that programs print at startup in their own words.

A word that a server names as a transactional id is certain. Otherwise the word after a short form such as "tx id", or
next to a producer id, is a guess: applications also use these forms for payments.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Set
from typing import Final

from eosctl.model.event_names import EventField
from eosctl.model.log_event import LogEvent, SourceSummary

GUESSED: Final = 0.75
"""The most confidence in an incident whose transactional id is a guess."""
_CHUNK: Final = r"[^\s,;|=<>()\[\]{}\"'`\\]+"
_WORD: Final = re.compile(_CHUNK)
_END: Final = ".:!?"
"""Signs that end a sentence but not an id."""
_SHORT: Final = re.compile(
    r"(?:\b(?i:txn?[ ._-]?id)\b|(?i:\btransactions? (?:are |were )?(?:initiali[sz]ed|enabled|ready)[ ,;:(]{1,3}id)\b)"
    rf"\\?[\"']?(?: ?[:=]>? ?| -> | (?:(?:is|was|now|set to|named|called) )*)"
    rf"\\?[\"'`<(\[]?(?P<id>{_CHUNK})"
)
_PRODUCER: Final = (
    r"(?:(?i:producer[ ._-]?id)[=: ]{1,2}(?P<number>\d+)|(?i:pid)[=: ]{1,2}(?P<pid>\d+)(?=\W{1,3}epoch\b))"
)
_DOES: Final = (
    r"(?:as|with|has|have|got|gets|is|was|now|up|ready|started|opened|registered|initiali[sz]ed|obtained|received"
    r"|assigned|holds|owns|uses|using|runs|writes|under|at|the|a|its)"
)
_OWNS: Final = (
    re.compile(
        rf"(?<![^\s,;|=<>()\[\]{{}}\"'`\\])(?P<id>{_CHUNK}+)[\"'`>]?[:,]?(?: {_DOES}[:,]?){{0,3}} [(\[]?{_PRODUCER}"
    ),
    re.compile(
        rf"\b{_PRODUCER}(?:\W{{1,3}}epoch[=: ]{{1,2}}\d+\)?)? (?:is |now )?(?:for|belongs to) [\"'`<]?(?P<id>{_CHUNK})"
    ),
)
_SIGN: Final = re.compile(r"[\d_~#@$+]|\w[./:-]\w")
_MADE: Final = re.compile(r"[\d.,:/-]+|(?:0x)?[0-9a-fA-F-]{16,}")
"""Numbers, timestamps, and generated ids: they identify a payment, not a producer."""
_WORDS: Final = re.compile(r"[A-Za-z]+(?:[./:-][A-Za-z]+)+")


_NAMED: Final[Mapping[EventField, tuple[re.Pattern[str], ...]]] = {
    "group": (
        re.compile(
            r"\b(?:[Cc]onsumer[ _-]?)?[Gg]roup(?:[ _.-]?(?:id|Id|ID))?[\"']{0,2}(?:=>| ?[=:]) ?\\{0,2}[\"'`]{0,2}"
            r"(?P<name>[A-Za-z][\w.-]{0,253}\w)(?=[\\\"'`\]),;\s}]|$)"
        ),
        re.compile(r"\b[Cc]onsumer group [\"'`](?P<name>[\w.-]{1,255})[\"'`]"),
        re.compile(r"[\"'`](?P<name>[\w.-]{1,255})[\"'`] consumer group\b"),
        re.compile(
            r"\b[Ss]ubscrib(?:ed|ing) to \S{1,300} (?:as|in|with) (?:consumer )?group "
            r"(?P<name>[\w.-]{0,254}\w)(?=[\s,;)]|$)"
        ),
        re.compile(
            r"\b(?:[Cc]onsumer|[Jj]oin(?:ed|ing)) group (?P<name>(?=\w*[-_.\d])[\w.-]{1,254}\w)(?=[\s,;:)]|$)"
            # MirrorMaker asks a cluster for the offsets of the groups of others.
            r"(?! on cluster\b)"
        ),
    ),
    "topic": (
        re.compile(
            r"\b[Tt]opics?(?:[ _.]?[Nn]ame)?[\"']{0,2}(?:=>| ?[=:]) ?\\{0,2}[\"'`\[]{0,3}"
            r"(?P<name>[A-Za-z_][\w.-]{0,247}\w)[\"'`]?(?=[\\\]);\s}]|,? ?[a-z]\w*[=:]|$)"
        ),
        re.compile(
            r"\b[Ss]ubscrib(?:ed|ing) to (?:topics? )?[\[({]{0,2}[\"'`](?P<name>[A-Za-z_][\w.-]{0,248})[\"'`](?!,)"
        ),
    ),
    "bootstrap": (
        re.compile(
            r"\bbootstrap[._-]?[Ss]ervers?[\"']{0,2}(?:=>| ?[=:]) ?[\"'`\[]{0,3}"
            r"(?P<name>[\w.-]{1,253}:\d{1,5})(?![\w,])"
        ),
    ),
    "client_id": (
        re.compile(r"\binitialized kafka producer: (?P<name>\S{1,255})"),
        # Kafka's own form, where a name may contain blanks and signs: a sink of Flink is named after its operators.
        re.compile(
            r"\[(?:Producer|Consumer|AdminClient|Worker) clientId=(?P<name>[^\n]{1,255}?)"
            r"(?:, (?:transactionalId|groupId)=|\](?:\s|$))"
        ),
        re.compile(
            r"(?<!\[Producer )(?<!\[Consumer )(?<!\[AdminClient )(?<!\[Worker )"
            r"\bclient[._-]?(?:id|Id)[\"']{0,2}(?:=>| ?[=:]) ?\\{0,2}[\"'`]{0,2}"
            # MirrorMaker 2 names its connectors by source and target: eu->dr.
            r"(?P<name>[A-Za-z](?:[\w.-]|(?<=-)>){0,253}\w)"
        ),
    ),
}
"""The forms in which programs name what they use, by the field of the same meaning."""
_NOT_NAMES: Final = frozenset(
    {
        *("null", "nil", "none", "true", "false", "error", "unknown", "coordinator", "broker"),
        *("context", "dial", "failed", "kafka", "lookup", "read", "write"),
    }
)


class Announcements:
    """What each program states in the beginning of its log; read only when a record lacks a name."""

    def __init__(self, sources: Iterable[SourceSummary], log_of_file: Callable[[str], str]) -> None:
        self._beginnings: dict[str, list[str]] = defaultdict(list)
        for source in sources:
            self._beginnings[log_of_file(source.file)].append(source.beginning)
        self._found: dict[tuple[str, EventField], str] = {}

    def value(self, log: str, name: EventField) -> str:
        """Return the only group, topic, or client that the beginning of a log names; empty for several or another."""
        key = log, name
        if key not in self._found:
            texts = self._beginnings.get(log, ()) if name in _NAMED else ()
            words = {match["name"] for text in texts for pattern in _NAMED[name] for match in pattern.finditer(text)}
            words = {word for word in words if word.lower() not in _NOT_NAMES}
            self._found[key] = words.pop() if len(words) == 1 else ""
        return self._found[key]


def announced_ids(
    sources: Iterable[SourceSummary], log_of_file: Callable[[str], str], ids: Set[str]
) -> Mapping[str, str]:
    """Return the transactional id of each log whose beginning names exactly one.

    Args:
        sources: The files.
        log_of_file: Returns the name of the log that a file belongs to.
        ids: The transactional ids that coordinators know.
    """
    named: dict[str, set[str]] = defaultdict(set)
    for source in sources:
        words = {form for word in _WORD.findall(source.beginning) for form in (word, word.strip(".:!?"))}
        named[log_of_file(source.file)] |= words & ids
    return {log: next(iter(found)) for log, found in named.items() if len(found) == 1}


def short_ids(sources: Iterable[SourceSummary], log_of_file: Callable[[str], str]) -> Mapping[str, str]:
    """Return the id of each log whose beginning has exactly one after ``tx id``, ``txn.id``, or a similar form."""
    named: dict[str, set[str]] = defaultdict(set)
    for source in sources:
        found = (match["id"].strip(_END) for match in _SHORT.finditer(source.beginning))
        named[log_of_file(source.file)].update(word for word in found if _is_name(word))
    return {log: next(iter(found)) for log, found in named.items() if len(found) == 1}


def owners_of_producers(sources: Iterable[SourceSummary]) -> Mapping[str, str]:
    """Return the only name that the beginnings of logs give next to each producer id."""
    named: dict[str, set[str]] = defaultdict(set)
    for source in sources:
        for pattern in _OWNS:
            for match in pattern.finditer(source.beginning):
                if _is_name(word := match["id"].strip(_END)):
                    named[match["number"] or match["pid"]].add(word)
    return {number: next(iter(found)) for number, found in named.items() if len(found) == 1}


def guessed_ids(events: Iterable[LogEvent]) -> frozenset[str]:
    """Return the ids that appear only as hyphenated words in free text of applications."""
    guessed: set[str] = set()
    certain: set[str] = set()
    for event in events:
        if name := event.fields.get("transactional_id"):
            (guessed if _is_guessed(event, name) else certain).add(name)
    return frozenset(guessed - certain)


def _is_guessed(event: LogEvent, name: str) -> bool:
    if event.category != "TRANSACTIONAL_ID_NAMED" or _WORDS.fullmatch(name) is None:
        return False
    before, found, _ = event.message.partition(name)
    return bool(found) and before.endswith(" ") and before.rstrip()[-1:].isalpha()


def _is_name(word: str) -> bool:
    return _SIGN.search(word) is not None and _MADE.fullmatch(word) is None
