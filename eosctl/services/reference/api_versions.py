"""Explain a request of Kafka's protocol in one version, or by its key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from eosctl.knowledge.protocol import load_protocol, releases_text, versions_by_release
from eosctl.knowledge.reference.index import find_entries
from eosctl.model.reference import Entry, EntryKind, Fact
from eosctl.wire.schema.table import FOLDER, Section, Table, load_table

_VERSION: Final = r"(?:v|version|ver\.?|api ?version)\s*[:=]?\s*(?P<version>\d{1,2})"
_WHOLE: Final = (
    re.compile(rf"(?i)(?P<api>[a-z][a-z_ ]{{1,60}}?)[\s,(]*{_VERSION}\)?"),
    re.compile(r"(?P<api>[A-Za-z_]{4,60}) (?P<version>\d{1,2})"),
    re.compile(rf"(?i)(?:api[ _-]?key|api)\s*[:=#]?\s*(?P<key>\d{{1,3}})(?:[\s,(]+{_VERSION}\)?)?"),
)
_WITHIN: Final = (
    re.compile(r"(?i)\bapi_?key[=:]\s*(?P<api>[a-z]\w+),\s*api_?version[=:]\s*(?P<version>\d{1,2})"),
    re.compile(r"\b(?P<api>[A-Z][A-Za-z]+)\(key: \d+, version: (?P<version>\d{1,2})\)"),
)


def find_asked_api(text: str) -> Entry | None:
    """Return the request that a text names by its key, or with a version; None if it names anything else.

    Args:
        text: A short text, such as "EndTxn v5" or "api key 24".
    """
    for pattern in _WHOLE:
        if asked := pattern.fullmatch(text.strip().rstrip("?!.")):
            found = asked.groupdict()
            entry = _of_key(int(found["key"])) if "key" in found else _named(found["api"])
            if entry is not None:
                return _in_version(entry, found["version"])
    return None


def mentioned_apis(text: str) -> Iterator[Entry]:
    """Yield the requests whose headers a log line prints."""
    for pattern in _WITHIN:
        for header in pattern.finditer(text):
            entry = _named(header["api"])
            if entry is not None:
                yield _in_version(entry, header["version"])


def _named(name: str) -> Entry | None:
    return next((entry for entry in find_entries(name) if entry.kind is EntryKind.API), None)


def _of_key(key: int) -> Entry | None:
    return next((_named(name) for name, api in load_protocol().apis.items() if api.key == key), None)


def _in_version(entry: Entry, version: str | None) -> Entry:
    """Return a request's entry with the facts of one version."""
    if version is None:
        return entry
    served = versions_by_release(entry.name)
    releases = tuple(release for release, versions in served.items() if int(version) in versions)
    described = f"served by {releases_text(releases)}" if releases else "stable in no release that is known"
    changes = "; ".join(_changes(entry.name, int(version)))
    fact = Fact(f"version {version}", f"{described}{f'. {changes}' if changes else ''}.")
    return msgspec.structs.replace(entry, facts=(fact, *entry.facts))


def _changes(api: str, version: int) -> Iterator[str]:
    """Yield what begins and what ends with a version: fields, and the flexible encoding."""
    table = _table(api)
    for section in table.sections if table else ():
        if version not in section.versions or version == section.versions.first:
            continue
        if section.flexible_from == version:
            yield f"the {section.name} is flexible from this version on"
        added = sorted(_beginning(section, version))
        gone = sorted(_ending(section, version - 1))
        if added:
            yield f"the {section.name} adds {', '.join(added)}"
        if gone:
            yield f"the {section.name} drops {', '.join(gone)}"


def _table(api: str) -> Table | None:
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", api).lower()
    path = FOLDER / "api" / f"{name}.msg"
    return load_table(path) if path.is_file() else None


def _beginning(section: Section, version: int) -> Iterator[str]:
    return (name for name, first, _ in _fields(section) if first == version)


def _ending(section: Section, version: int) -> Iterator[str]:
    return (name for name, _, last in _fields(section) if last == version)


def _fields(section: Section) -> Iterator[tuple[str, int, int]]:
    """Yield each field at any depth, with its first and last version."""
    pending = list(section.fields)
    while pending:
        field = pending.pop()
        yield field.name, field.versions.first, field.versions.last
        pending += field.fields
