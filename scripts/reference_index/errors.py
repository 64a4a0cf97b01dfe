"""Index entries of errors and exceptions: Kafka's codes, with each client's names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from importlib import resources
from typing import Final, NamedTuple

from eosctl.knowledge.terms import load_terms
from eosctl.model.reference import Entry, EntryKind
from eosctl.model.term import Handling, Term, TermKind
from eosctl.wire.error_codes import ErrorCode

_KINDS: Final = {
    TermKind.ERROR: EntryKind.ERROR,
    TermKind.EXCEPTION: EntryKind.EXCEPTION,
    TermKind.STATE: EntryKind.STATE,
    TermKind.CONCEPT: EntryKind.CONCEPT,
}
_SHORTEST: Final = 12
_DISTINCTIVE: Final = 20
"""Shorter texts are recognized only with the client's prefix."""
_PARENTS: Final = {
    "RetriableException": "retried by the client",
    "ApplicationRecoverableException": "close the producer and create a new one (KIP-1050)",
    "TransactionAbortableException": "abort the transaction and continue",
    "AuthorizationException": "not retried: a right is missing",
    "AuthenticationException": "not retried: the credentials were refused",
}


class Name(NamedTuple):
    """A client's name of an error."""

    client: str
    code: str
    name: str
    text: str
    parents: str

    @property
    def is_local(self) -> bool:
        """Return whether the client raises the error without a broker's response."""
        return self.client != "java" and (not self.code or int(self.code) < -1)


def client_names() -> tuple[Name, ...]:
    """Return the rows of `client_errors.tsv`."""
    text = (resources.files("eosctl.knowledge.reference") / "client_errors.tsv").read_text(encoding="utf-8")
    return tuple(Name(*(line.split("\t") + [""] * 4)[:5]) for line in text.splitlines())


def term_entries() -> Iterator[Entry]:
    """Yield the hand-written terms, with the clients' names of error codes."""
    names = client_names()
    by_code: dict[str, list[Name]] = defaultdict(list)
    for name in names:
        if name.code:
            by_code[name.code].append(name)
    for term in load_terms():
        called = by_code[str(term.code)] if term.code is not None else []
        yield _of_term(term, [name for name in called if name.client != "java"])
    yield from _exceptions(names, {term.name: term for term in load_terms()})
    yield from _local(names)


def _of_term(term: Term, called: Iterable[Name]) -> Entry:
    aliases = [name.name for name in called]
    if term.kind is TermKind.ERROR:
        aliases += [f"Errors.{term.name}", f"KafkaError.{term.name}"]
    return Entry(
        kind=_KINDS[term.kind],
        name=term.name,
        means=term.means,
        code=term.code,
        retriable=term.retriable,
        aliases=_others(term.name, (*term.aliases, *aliases)),
        phrases=_phrases(called),
        clients=term.handling,
        causes=term.causes,
        next_steps=(term.next_step,) if term.next_step else (),
        see=term.related,
    )


def _exceptions(names: Iterable[Name], terms: dict[str, Term]) -> Iterator[Entry]:
    """Yield Java's exception classes without a hand-written term."""
    by_code = {term.code: term for term in terms.values() if term.kind is TermKind.ERROR}
    for name in names:
        simple = name.name.rpartition(".")[2]
        if name.client != "java" or simple in terms:
            continue
        error = by_code.get(int(name.code)) if name.code else None
        handling = [Handling("Java", text) for parent, text in _PARENTS.items() if parent in name.parents.split(",")]
        if simple == "RetriableException":
            handling = [Handling("Java", "the parent of errors that the client retries")]
        yield Entry(
            kind=EntryKind.EXCEPTION,
            name=simple,
            means=error.means if error else f"An exception of Kafka's Java libraries ({name.name.rpartition('.')[0]}).",
            code=error.code if error else None,
            retriable=error.retriable if error else None,
            aliases=(name.name,),
            phrases=(name.text,) if name.text else (),
            clients=tuple(handling[:1]) or (error.handling if error else ()),
            causes=error.causes if error else (),
            next_steps=(error.next_step,) if error and error.next_step else (),
            see=(error.name,) if error else tuple(name.parents.split(",")[:1] if name.parents else ()),
        )


def _local(names: Sequence[Name]) -> Iterator[Entry]:
    """Yield the errors that clients other than Java raise themselves."""
    coded = {_plain(name.name): int(name.code) for name in names if name.client != "java" and not name.is_local}
    simple = [name.name.rpartition(".")[2] for name in names if name.client == "java"]
    classes = {_plain(one.removesuffix("Exception")): one for one in simple if len(one) > _SHORTEST}
    for name in names:
        if not name.is_local:
            continue
        if _plain(name.name) in coded:
            # The client has a class for the error without its number.
            yield Entry(EntryKind.ERROR, ErrorCode(coded[_plain(name.name)]).name, "", aliases=(name.name,))
            continue
        if _plain(name.name) in classes:
            yield Entry(EntryKind.EXCEPTION, classes[_plain(name.name)], "", aliases=(name.name,))
            continue
        text = name.text.removeprefix("Local: ").removeprefix("Broker: ")
        means = f"{name.client}: {text}." if text else f"An error that {name.client} raises by itself."
        yield Entry(
            kind=EntryKind.ERROR,
            name=name.name,
            means=means,
            code=int(name.code) if name.code else None,
            aliases=(f"KafkaError.{name.name}",) if name.client == "librdkafka" else (),
            phrases=(name.text,) if name.text else (),
        )


def _plain(name: str) -> str:
    """Return a client's name without the client's naming style."""
    letters = name.replace("_", "").replace(" ", "").lower()
    return letters.removeprefix("err").removesuffix("error")


def _others(name: str, aliases: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(alias for alias in aliases if alias != name))


def _phrases(called: Iterable[Name]) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for name in called:
        short = name.text.removeprefix("Broker: ").removeprefix("kafka server: ")
        text = short if len(short) > _DISTINCTIVE else name.text
        if len(text) > _SHORTEST:
            found.setdefault(text.lower().rstrip("."), text)
    return tuple(found.values())
