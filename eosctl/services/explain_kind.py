"""Explain a name as one kind of thing: a setting, a check, a metric, or a category of log records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from eosctl.analysis.pasted_text import plain_text
from eosctl.errors import UsageError, unknown_name
from eosctl.knowledge.reference.index import explained_elsewhere, find_entries, load_index
from eosctl.model.reference import Certainty, Entry, EntryKind, Explanation, PastedText
from eosctl.services.explain import Explained, metrics_named, name_candidates

_LISTING: Final[Mapping[EntryKind, str]] = {
    EntryKind.LOG_CATEGORY: "List them: eosctl logs patterns",
    EntryKind.CHECK: "List them: eosctl check list",
    EntryKind.METRIC: "List them: eosctl metrics list",
    EntryKind.SETTING: "Write the name as it stands in configuration files",
}
"""What to do about a name that no thing of a kind has."""


def answer_named(name: str, kind: EntryKind) -> Explained:
    """Return the entries of one kind that a name stands for, as `eosctl.services.explain.answer` has them.

    Args:
        name: The name in any spelling that the reference has; also "what is NAME".
        kind: The kind of thing.

    Raises:
        UsageError: No entry of this kind has the name; the message names close ones, and entries of other kinds.
    """
    text = plain_text(name).strip()
    entries = next(filter(None, (_entries_named(one, kind) for one in (text, *name_candidates(text)))), ())
    if not entries:
        raise _unknown(text, kind)
    # A name in its own spelling means what has it; another spelling may mean several.
    own = tuple(entry for entry in entries if entry.name == text)
    chosen = own or tuple(entry for entry in entries if text in entry.aliases) or entries
    exact = (Explanation(1.0, Certainty.EXACT, f"{text} is its name", entry) for entry in chosen)
    return Explained(tuple(exact), (), PastedText(text))


def _entries_named(name: str, kind: EntryKind) -> tuple[Entry, ...]:
    found = tuple(entry for entry in find_entries(name) if entry.kind is kind)
    return metrics_named(name) if kind is EntryKind.METRIC and not found else found


def _unknown(name: str, kind: EntryKind) -> UsageError:
    known = {one for entry in load_index() if entry.kind is kind for one in (entry.name, *entry.aliases[:1])}
    return unknown_name(kind.value, name, known, f"{_LISTING[kind]}{explained_elsewhere(name)}")
