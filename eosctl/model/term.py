"""Knowledge about an error, an exception, a state, or a concept."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class TermKind(StrEnum):
    """The kind of a term."""

    ERROR = "error"
    EXCEPTION = "exception"
    STATE = "state"
    CONCEPT = "concept"


class Handling(msgspec.Struct, frozen=True):
    """A client's handling of an error: retriable, abortable, or fatal, with versions if they differ."""

    client: str
    text: str


class Term(msgspec.Struct, frozen=True):
    """An explained term.

    `code` is the number of an error on the wire, None for others. `aliases` are further names under which it is found.
    `related` are names of other terms. `handling` is empty where clients never see it.
    """

    name: str
    kind: TermKind
    means: str
    code: int | None = None
    retriable: bool | None = None
    handling: tuple[Handling, ...] = ()
    causes: tuple[str, ...] = ()
    next_step: str = ""
    aliases: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
