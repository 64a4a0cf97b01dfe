"""The entries of the reference, and their matches with a user's question."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec

from eosctl.model.term import Handling

ENGLISH: Final = "en"
"""The language of the reference itself."""


class EntryKind(StrEnum):
    """The kind of thing that an entry explains."""

    ERROR = "error"
    EXCEPTION = "exception"
    STATE = "state"
    CONCEPT = "concept"
    API = "API"
    KIP = "KIP"
    SETTING = "setting"
    FEATURE = "feature"
    METRIC = "metric"
    ALERT = "alert"
    CHECK = "check"
    BUG = "bug"
    LOG_CATEGORY = "log category"
    INCIDENT = "incident"
    RUNBOOK = "runbook"
    FILE = "file"
    TOOL = "tool"
    MYTH = "myth"


class Fact(msgspec.Struct, frozen=True):
    """A labeled fact, such as a default by release."""

    label: str
    text: str


class ShortAnswer(msgspec.Struct, frozen=True):
    """A headline in another language than English, with the usual cause and the next step as labeled facts."""

    headline: str
    facts: tuple[Fact, ...] = ()


class Entry(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One explained thing.

    Attributes:
        kind: The kind of thing.
        name: The name under which Kafka or the product knows it.
        means: Its meaning.
        code: The number of an error on the wire; None for anything else.
        retriable: Whether clients may repeat the request; None if the question does not arise.
        aliases: Further names, among them those of other clients.
        phrases: Texts that programs print for it.
        raised: Who raises it and when, with Kafka's class.
        data: Whether records are lost or duplicated.
        clients: How each client handles it.
        causes: The usual causes, the most frequent first.
        next_steps: Commands and advice; `{transactional_id}`, `{group}`, and `{topic}` stand for pasted values.
        runbooks: The ids of the runbooks for it.
        see: The names of related entries.
        sources: KIPs, Kafka classes, and issues behind the statements.
        facts: Further facts, such as a setting's defaults.
    """

    kind: EntryKind
    name: str
    means: str
    code: int | None = None
    retriable: bool | None = None
    aliases: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    raised: str = ""
    data: str = ""
    clients: tuple[Handling, ...] = ()
    causes: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    runbooks: tuple[str, ...] = ()
    see: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()


class Certainty(StrEnum):
    """How sure an answer is: the name was given, the words fit, or it is merely the nearest."""

    EXACT = "exact"
    LIKELY = "likely"
    POSSIBLE = "possible"


class Explanation(msgspec.Struct, frozen=True):
    """An entry as the answer to a text.

    Attributes:
        score: How well the entry fits, from 0 to 1.
        certainty: Whether the text names the entry, or only resembles it.
        reason: What in the text led to the entry.
        entry: The entry, its next steps filled with what was pasted.
        short: The short answer in the language that was asked for; None in English.
    """

    score: float
    certainty: Certainty
    reason: str
    entry: Entry
    short: ShortAnswer | None = None


LONGEST_PASTED: Final = 1 << 20
"""How much of a pasted text is read: characters, or bytes of a file or of standard input."""


class PastedText(msgspec.Struct, frozen=True):
    """What a text names, read out of it.

    Attributes:
        text: The text, without terminal codes.
        names: Class names, error codes, settings, and ids of issues and checks; the root cause of a stack trace first.
        numbers: Numbers of error codes.
        values: Identifiers by their kind: `transactional_id`, `group`, `topic`, `partition` (its number),
            `topic_partition`, `producer_id`, `epoch`, `broker`, `connector`, and `task` (of Streams).
    """

    text: str
    names: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    values: dict[str, str] = {}


class DestructiveProcedure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A procedure that destroys data: what it destroys, the safe way, and the runbook that goes that way."""

    name: str
    why: str
    instead: str
    runbook: str


class RunbookMatch(msgspec.Struct, frozen=True):
    """What fits a symptom.

    Attributes:
        score: How well it fits, from 0 to 1.
        entry: A runbook, or what else the reference has on the symptom; its next steps are filled with what was pasted.
        symptom: What was recognized, as the reference has it.
        reason: Why it is ranked here.
        decide: The question or command that shows whether it is the right one; empty without one.
        short: The short answer in the language that was asked for; None in English.
    """

    score: float
    entry: Entry
    symptom: str
    reason: str
    decide: str = ""
    short: ShortAnswer | None = None
