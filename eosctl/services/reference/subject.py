"""Decide whether a text is about another program than Kafka, so that no runbook is named for one shared word."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources
from typing import Final

import msgspec

_NAME: Final = re.compile(r"[\w.$/-]+")
_OF_PATH: Final = re.compile(r"[./][\w$-]+[./]")
"""Part of a dotted or slashed name: its words are those of a package or a path, such as `org.apache.http`."""

_SENTENCE: Final = 4
"""Fewer words than this only name an error; what they are about is open."""


class _Signs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    certain: tuple[str, ...]
    words: tuple[str, ...]
    message_brokers: tuple[str, ...]
    others: tuple[str, ...]
    everywhere: tuple[str, ...]


def other_subject(text: str) -> str:
    """Return the word that shows that a text is about another program; empty where it may be about Kafka.

    Without a sign of another program, a text in everyday words is taken to be about Kafka: "some payments never
    arrived". A word that Kafka shares with others, such as "transaction" or "isolation level", is not a sign of it.

    >>> other_subject("nginx answers 502 Bad Gateway")
    'nginx'
    >>> other_subject("the connector to PostgreSQL writes duplicates")
    ''
    >>> other_subject("RabbitMQ delivers to the consumer twice")
    'RabbitMQ'
    """
    if _matches("certain", text):
        return ""
    if found := _matches("message_brokers", text):
        return found
    if _matches("words", _NAME.sub(lambda name: " " if _OF_PATH.search(name[0]) else name[0], text)):
        return ""
    return _matches("others", text) or (_matches("everywhere", text) if len(text.split()) >= _SENTENCE else "")


def _matches(kind: str, text: str) -> str:
    found = _patterns(kind).search(text)
    return found[0] if found else ""


@cache
def _patterns(kind: str) -> re.Pattern[str]:
    text = (resources.files("eosctl.knowledge.reference") / "subject.toml").read_text(encoding="utf-8")
    signs = msgspec.convert(tomllib.loads(text), _Signs)
    return re.compile("|".join(f"(?:{pattern})" for pattern in getattr(signs, kind)), re.IGNORECASE)
