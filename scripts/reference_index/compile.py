"""Merge the entries of all sources, and write them one per line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import msgspec

from eosctl.model.reference import Entry, EntryKind
from scripts.reference_index.catalogs import (
    bug_entries,
    category_entries,
    check_entries,
    incident_entries,
    runbook_entries,
)
from scripts.reference_index.curated import curated
from scripts.reference_index.errors import term_entries
from scripts.reference_index.finding_kinds import finding_entries
from scripts.reference_index.tables import (
    alert_entries,
    api_entries,
    metadata_version_entries,
    metric_entries,
    setting_entries,
)

INDEX: Final = Path(__file__).resolve().parents[2] / "eosctl" / "knowledge" / "reference" / "index.json"
_JOINED: Final = ("aliases", "phrases", "see", "sources", "runbooks", "facts")
_OF_ERROR: Final = ("raised", "data", "causes", "next_steps", "runbooks", "sources", "clients")
_ORDER: Final = {kind: at for at, kind in enumerate(EntryKind)}


def index_text() -> str:
    """Return the index: a JSON list with one entry per line, ordered by kind and name."""
    entries: dict[tuple[EntryKind, str], Entry] = {}
    for entry in _sources():
        key = (entry.kind, entry.name)
        entries[key] = _joined(entries[key], entry) if key in entries else entry
    entries = {key: _with_error(entry, entries.values()) for key, entry in entries.items()}
    without = [f"{entry.kind.value} {entry.name}" for entry in entries.values() if not entry.means]
    if without:
        raise ValueError(f"Entries that say nothing: {', '.join(without)}")
    ordered = sorted(entries.values(), key=lambda entry: (_ORDER[entry.kind], entry.code or 0, entry.name))
    lines = ",\n".join(msgspec.json.encode(entry).decode() for entry in ordered)
    return f"[\n{lines}\n]\n"


def _sources() -> Iterable[Entry]:
    yield from term_entries()
    yield from api_entries()
    yield from metadata_version_entries()
    yield from setting_entries()
    yield from metric_entries()
    yield from alert_entries()
    yield from check_entries()
    yield from bug_entries()
    yield from category_entries()
    yield from incident_entries()
    yield from runbook_entries()
    yield from finding_entries()
    yield from curated()


def _with_error(entry: Entry, entries: Iterable[Entry]) -> Entry:
    """Return an exception's entry with the data of its error code."""
    if entry.kind is not EntryKind.EXCEPTION:
        return entry
    errors = (one for one in entries if one.kind is EntryKind.ERROR)
    error = next((one for one in errors if one.name in entry.see[:1] or one.code == entry.code is not None), None)
    if error is None:
        return entry
    missing = {field: getattr(error, field) for field in _OF_ERROR if not getattr(entry, field)}
    return msgspec.structs.replace(entry, **missing)


def _joined(first: Entry, more: Entry) -> Entry:
    """Merge two entries; single values and advice of the second take precedence."""
    changes: dict[str, Any] = {}
    for field in Entry.__struct_fields__:
        added = getattr(more, field)
        if field in ("kind", "name") or not added:
            continue
        changes[field] = tuple(dict.fromkeys((*getattr(first, field), *added))) if field in _JOINED else added
    return msgspec.structs.replace(first, **changes)
