"""Recognize Kafka's errors as clients name them: by code, class, constant, or sentence (see ``errors.toml``)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final, cast

from eosctl.logs.classifier.mentions import is_report
from eosctl.model.event_names import EventCategory

_SHORTEST_TEXT: Final = 16
"""A shorter sentence may have another subject."""
_SENTENCE_END: Final = re.compile(r"\.(?:\s|$)")
_NAME: Final = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[A-Z]\w*[a-z]\w*(?:Error|Exception)|Err[A-Z]\w+")
_LOCAL: Final = re.compile(r"(?:\(|code=|\bERR_|\bRD_KAFKA_RESP_ERR_|\bLocal_)(_[A-Z]+(?:_[A-Z]+)*)\b")
"""Text that librdkafka and its bindings write about an error of the client itself."""
_DOTNET: Final = re.compile(r"\bLocal_((?:[A-Z][a-z]+)+)\b")
"""The same as Confluent.Kafka names it."""
_CAPITAL: Final = re.compile(r"(?=[A-Z])")
_FATAL: Final = "KafkaError{FATAL,"
"""The client cannot be used any more, by any error."""
_UNDELIVERED: Final = "message(s) failed delivery (see individual"
"""How librdkafka's commit of a transaction reports messages that were not delivered, with the code _INCONSISTENT."""
_ATOM: Final = re.compile(r"(?<![\w:]):([a-z]+(?:_[a-z]+)+)\b")
"""An error as clients in Erlang and Elixir name it."""
_WORD: Final = re.compile(r"\w")


def category_of_error(text: str) -> EventCategory | None:
    """Return the category of the error that a text names as a client does; None if it names no relevant one."""
    if _UNDELIVERED in text and _FATAL not in text:
        return "TXN_STATE_ERROR"
    local = _LOCAL.search(text)
    if local is not None and is_report(text, *local.span(1)) and (category := _categories().get(local[1])):
        return category
    for named in _DOTNET.finditer(text):
        if category := _categories().get(_CAPITAL.sub("_", named[1]).upper()):
            return category
    for atom in _ATOM.finditer(text):
        if (category := _categories().get(atom[1].upper())) and is_report(text, *atom.span(1)):
            return category
    known = (category for words, category in _known() if words in text and _is_reported(words, text))
    return next(known, "CLIENT_FATAL" if _FATAL in text else None)


@cache
def _categories() -> dict[str, EventCategory]:
    text = files("eosctl.logs.classifier").joinpath("errors.toml").read_text("utf-8")
    data = cast(Mapping[EventCategory, Sequence[str]], tomllib.loads(text))
    return {name: category for category, names in data.items() for name in names}


@cache
def _known() -> tuple[tuple[str, EventCategory], ...]:
    """Return the clients' names for errors with their categories, the longest name first."""
    categories = _categories()
    text = files("eosctl.knowledge.reference").joinpath("client_errors.tsv").read_text("utf-8")
    rows = [(*line.split("\t"), "")[:4] for line in text.splitlines()]
    names = {code: name for client, code, name, _ in rows if client == "kafka"}
    found: dict[str, EventCategory] = {}
    for client, code, name, sentence in rows:
        category = categories.get(names.get(code, name) if code else "") or categories.get(name)
        if category:
            for words in _words(client, name, sentence):
                found.setdefault(words, category)
    return tuple(sorted(found.items(), key=lambda item: (-len(item[0]), item[0])))


def _words(client: str, name: str, sentence: str) -> Iterator[str]:
    simple = name.rpartition(".")[2]
    if _NAME.fullmatch(simple) or (client == "segmentio" and " " in simple):
        yield simple
    first = _SENTENCE_END.split(sentence.removeprefix("kafka server: "), maxsplit=1)[0].strip()
    if len(first) >= _SHORTEST_TEXT:
        yield first


def _is_reported(words: str, text: str) -> bool:
    """Return whether a text reports these words as having happened, and not as a part of a longer name."""
    start = text.find(words)
    end = start + len(words)
    before, behind = text[start - 1 : start], text[end : end + 1]
    if (_WORD.match(words) and _WORD.match(before)) or _WORD.match(behind):
        return False
    return is_report(text, start, end)
