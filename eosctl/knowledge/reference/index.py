"""Load the index of ``explain`` (``index.json``, by ``scripts.generate_reference``) and look entries up by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import resources
from shlex import quote
from typing import Final

import msgspec

from eosctl.knowledge.reference.spellings import other_spellings
from eosctl.model.reference import Entry, EntryKind

_DROPPED: Final = str.maketrans("", "", " \t\n_-./:'\"`,()[]{}<>#$*!?%&+=;|\\~@^“”‘’")
_CLIENT_CODE: Final = re.compile(r"_[A-Z][A-Z_]+")
_FILE: Final = re.compile(
    r"(?:\S*/)?(?:\d{20}(?:-\d+)?|[\w.-]+)(?P<suffix>\.(?:log|index|timeindex|txnindex|snapshot|deleted|swap|cleaned))"
)
_DIRECTORY: Final = re.compile(r"(?:\S*/)?(?P<topic>__[a-z_]+)-\d+/?")
_PATTERNS: Final = (
    (re.compile(r"(?:\S*/)?[\w.-]+-\d+\.[0-9a-f]{32}-(?P<kind>delete|future|stray)/?"), "{kind} directory"),
    (re.compile(r"(?:\S*/)?[\w.-]+-\d+-(?P<kind>delete|future|stray)/?"), "{kind} directory"),
    (re.compile(r"(?:\S*/)?\d{20}-\d{10}\.checkpoint"), "metadata snapshot"),
    (re.compile(r"(?:[\w.-]+-)?[\w.-]+-(?P<kind>changelog|repartition)(?:-\d+)?"), "{kind}"),
    (re.compile(r"(?:[\w.-]+-)?(?P<kind>connect-(?:offsets|configs|status))"), "{kind}"),
    (re.compile(r"mm2-[\w-]+\.[\w.-]+\.internal|[\w-]+\.checkpoints\.internal"), "mm2-offset-syncs"),
    (
        re.compile(
            r"(?i)(?:partition )?\d* ?(?:of )?(?P<kind>__(?:transaction_state|consumer_offsets)),? ?(?:partition )?\d+"
        ),
        "{kind}",
    ),
)
"""Names that hold a topic's or a partition's name, and the entry of their kind."""
_QUALIFIED: Final = re.compile(
    r"(?:RD_KAFKA_RESP_ERR_|(?:[\w$]+(?:\.|::))*[\w$]+(?:\.(?=_?[A-Z])|::))(?P<name>_?[A-Za-z]\w+)"
)
_CLASS: Final = re.compile(r"[A-Z][a-z]+(?:[A-Z][a-z]*)+")
_PLURAL: Final = re.compile(r"(?P<name>[A-Za-z][\w -]{4,}[b-hj-rt-z])(?:s|es|S)")
_SHORTEST_ENDING: Final = 10
_FIRST: Final = {kind: at for at, kind in enumerate(EntryKind)}


@cache
def load_index() -> tuple[Entry, ...]:
    """Return every entry, by kind."""
    data = (resources.files("eosctl.knowledge.reference") / "index.json").read_bytes()
    return msgspec.json.decode(data, type=tuple[Entry, ...])


def find_entries(name: str) -> tuple[Entry, ...]:
    """Return the entries of a name, an alias, an error's number, or a file; case and punctuation do not matter.

    >>> [find_entries(name)[0].name for name in ("producer fenced", "-144", "00000000000000000007.txnindex")]
    ['PRODUCER_FENCED', '_FENCED', '.txnindex']
    """
    wanted = name.strip().strip("\"'`“”「」《》").strip()
    if re.fullmatch(r"-?\d+", wanted):
        return _by_number().get(int(wanted), ())
    found = _by_key().get(_key(wanted), ()) or _other(wanted)
    if _CLASS.fullmatch(wanted):
        classes = (_by_key().get(_key(f"{wanted}{ending}"), ()) for ending in ("Exception", "Error"))
        found = (*found, *(entry for entries in classes for entry in entries if entry not in found))
    # A spelling counts more than the same letters, and a name more than an alias; an incident is named after its error.
    return tuple(
        sorted(
            found,
            key=lambda entry: (
                wanted not in names_of(entry) or entry.kind is EntryKind.INCIDENT,
                entry.name != wanted,
                _FIRST[entry.kind],
                _key(entry.name) != _key(wanted),
            ),
        )
    )


def _other(wanted: str) -> tuple[Entry, ...]:
    """Return the entries that a name stands for in a client, a program, or a data directory."""
    for other in other_spellings(wanted):
        entries = [entry for entry in _by_key().get(_key(other.name), ()) if entry.kind in other.kinds]
        if entries:
            return tuple(sorted(entries, key=lambda entry: entry.name != other.name))
    return next((found for key in _keys(wanted) if (found := _by_key().get(key))), ())


def _keys(wanted: str) -> Iterator[str]:
    """Yield the keys of a file's kind, and of a name without what a client puts around it."""
    if file := _FILE.fullmatch(wanted):
        yield file["suffix"]
    if directory := _DIRECTORY.fullmatch(wanted):
        yield _key(directory["topic"])
    for pattern, name in _PATTERNS:
        if shape := pattern.fullmatch(wanted):
            yield _key(name.format(**shape.groupdict()))
    if qualified := _QUALIFIED.fullmatch(wanted):
        yield _key(qualified["name"])
    if plural := _PLURAL.fullmatch(wanted):
        yield _key(plural["name"])


def settings_ending(name: str) -> tuple[Entry, ...]:
    """Return the settings whose names end like this, for a name without its prefix or in another spelling.

    >>> [entry.name for entry in settings_ending("transactionalIdPrefix")]
    ['sink.transactional-id-prefix']
    """
    key = _key(name)
    if len(key) < _SHORTEST_ENDING:
        return ()
    settings = (entry for entry in load_index() if entry.kind is EntryKind.SETTING)
    return tuple(entry for entry in settings if _key(entry.name).endswith(key))


def entry_named(name: str) -> Entry:
    """Return the entry with exactly this name; KeyError without one."""
    return next(entry for entry in _by_key()[_key(name)] if entry.name == name)


def explained_elsewhere(name: str) -> str:
    """Return where a name that is not of the kind asked for is explained; empty if no entry has it.

    >>> explained_elsewhere("PRODUCER_FENCED")
    '; eosctl explain PRODUCER_FENCED explains the error of this name'
    """
    entry = next(iter(find_entries(name)), None)
    return f"; eosctl explain {quote(name)} explains the {entry.kind.value} of this name" if entry else ""


def names_of(entry: Entry) -> tuple[str, ...]:
    """Return everything that an entry can be called."""
    return (entry.name, *entry.aliases)


@cache
def _by_key() -> Mapping[str, tuple[Entry, ...]]:
    return _grouped((_key(name), entry) for entry in load_index() for name in names_of(entry))


@cache
def _by_number() -> Mapping[int, tuple[Entry, ...]]:
    errors = ((entry.code, entry) for entry in load_index() if entry.kind is EntryKind.ERROR and entry.code is not None)
    found: dict[int, list[Entry]] = {}
    for code, entry in errors:
        found.setdefault(code, []).append(entry)
    return {code: tuple(entries) for code, entries in found.items()}


def _grouped(pairs: Iterable[tuple[str, Entry]]) -> Mapping[str, tuple[Entry, ...]]:
    found: dict[str, dict[int, Entry]] = {}
    for key, entry in pairs:
        found.setdefault(key, {})[id(entry)] = entry
    return {key: tuple(entries.values()) for key, entries in found.items()}


def _key(name: str) -> str:
    """Return a name without what people leave out; names of files and codes of clients keep their beginning."""
    if _CLIENT_CODE.fullmatch(name):
        return "_" + name.lower().translate(_DROPPED)
    if name.startswith("__") or (name.startswith(".") and name[1:].isalpha()):
        return name.lower()
    return name.lower().translate(_DROPPED)
