"""Options of an application's own program that hold settings of Kafka's clients: ``--transactional-id pay``.

Such options count as the variables that they would be: a program takes ``--kafka-acks`` and ``KAFKA_ACKS`` alike. Pairs
behind an option, as ``-X acks=1`` of librdkafka's programs, count the same way. Kafka's own tools are left out.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from eosctl.settings.formats.tree import Leaf
from eosctl.settings.names.spellings import setting_of_letters
from eosctl.settings.names.unread import CLIENT_SETTINGS

_OPTION: Final = re.compile(r"--?(?P<name>[A-Za-z][\w.-]*)(?:=(?P<value>.*))?", re.DOTALL)
_PAIR: Final = re.compile(r"(?P<name>[a-z]+(?:\.[a-z]+)*)=(?P<value>.*)", re.DOTALL)
_OF_PAIRS: Final = re.compile(
    r"-X|--?(?:(?:kafka|producer|consumer|client|rdkafka|librdkafka)[._-]?)*"
    r"(?:config|configs|conf|property|properties|props|option|opt|setting|set|param)"
)
_TOOLS: Final = re.compile(
    r"(?<![\w-])(?:kafka-(?:acls|broker|client|cluster|configs|console|consumer-(?:groups|perf)|delete|dump|e2e|features|get"
    r"|groups|leader|log-dirs|metadata|mirror|producer-perf|reassign|run-class|server|share|storage|streams|topics"
    r"|transactions|verifiable)[\w-]*|rpk|eosctl|connect-(?:distributed|standalone|mirror)[\w-]*)(?:\.sh)?(?![\w-])"
)
_OF_KAFKA: Final = re.compile(
    r"kafka|bootstrap[._-]?servers?|brokers?\b|producer|consumer|transactional|isolation|idempoten", re.IGNORECASE
)
_OTHERS: Final = frozenset({"group.id", "bootstrap.servers", "client.id"})
"""Settings that show no client where they stand alone."""
_KNOWN: Final = CLIENT_SETTINGS | _OTHERS
_WORD: Final = re.compile(r"[._-]")
_MOST_WORDS: Final = 8
"""More words than the longest of the settings has."""


def variables_in_options(words: Sequence[Leaf]) -> list[tuple[str, Leaf]]:
    """Return what the options of a program's command set, by the names of variables; nothing for Kafka's own tools.

    Args:
        words: The command and its arguments; a text with blanks is a command line.

    >>> found = variables_in_options([Leaf("pay --kafka-acks 1 -X transactional.id=a", 1)])
    >>> [(name, leaf.text) for name, leaf in found]
    [('KAFKA_ACKS', '1'), ('KAFKA_TRANSACTIONAL_ID', 'a')]
    """
    text = " ".join(word.text or "" for word in words)
    if "-" not in text or _TOOLS.search(text) is not None or _OF_KAFKA.search(text) is None:
        return []
    found = list(_settings(list(_split(words))))
    if all(name in _OTHERS for name, _ in found):
        return []
    return [(f"KAFKA_{name.upper().replace('.', '_')}", leaf) for name, leaf in found]


def _split(words: Iterable[Leaf]) -> Iterator[Leaf]:
    """Yield single words, each with its line."""
    for word in words:
        text = word.text or ""
        if not re.search(r"\s", text):
            yield word
            continue
        for number, line in enumerate(text.splitlines(), word.line):
            try:
                parts = shlex.split(line.rstrip("\\"))
            except ValueError:
                continue  # a part of a script
            yield from (Leaf(part, number, word.file) for part in parts)


def _settings(words: Sequence[Leaf]) -> Iterator[tuple[str, Leaf]]:
    """Yield settings by Kafka's names; the value of an option stands behind ``=`` or is the next word."""
    pairs = False
    for at, word in enumerate(words):
        text = word.text or ""
        option = _OPTION.fullmatch(text)
        if option is None:
            pair = _PAIR.fullmatch(text) if pairs else None
            if pair is not None and pair["name"] in _KNOWN:
                yield pair["name"], Leaf(pair["value"], word.line, word.file, pair["name"])
            continue
        if text.startswith("-X") and len(text) > 2:
            text, option = text[2:].lstrip("="), None
        pairs = option is not None and _OF_PAIRS.fullmatch(text.partition("=")[0]) is not None
        inner = _PAIR.fullmatch(option["value"] or "") if option is not None and pairs else _PAIR.fullmatch(text)
        if inner is not None and inner["name"] in _KNOWN:
            yield inner["name"], Leaf(inner["value"], word.line, word.file, inner["name"])
        elif option is not None and not pairs and (name := _setting_at_end(option["name"])):
            following = words[at + 1].text or "" if at + 1 < len(words) else "--"
            value = option["value"] if option["value"] is not None else "true" if following[:1] == "-" else following
            yield name, Leaf(value, word.line, word.file, text.partition("=")[0])


def _setting_at_end(option: str) -> str:
    """Return the setting that the name of an option ends in; empty where it ends in none.

    >>> _setting_at_end("kafka.producer.transactional-id"), _setting_at_end("max-acks"), _setting_at_end("acks-per-s")
    ('transactional.id', '', '')
    """
    parts = [part for part in _WORD.split(option) if part]
    for first in range(max(0, len(parts) - _MOST_WORDS), len(parts)):
        name = setting_of_letters("".join(parts[first:]))
        if name in _KNOWN and (name != "acks" or all(_OF_KAFKA.search(part) for part in parts[:first])):
            return name
    return ""
