"""Read the curated entries of `eosctl/knowledge/reference`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from importlib import resources
from typing import Any, Final

import msgspec

from eosctl.model.reference import Entry, EntryKind

FILES: Final = (
    "concepts",
    "internals",
    "states",
    "apis",
    "kips",
    "files",
    "features",
    "tools",
    "errors",
    "alarms",
    "myths",
    "log_incidents",
)
_KINDS: Final = {kind.value.lower().replace(" ", "-"): kind for kind in EntryKind}


def curated() -> Iterator[Entry]:
    """Yield every curated entry; one without `means` adds to an entry of another source."""
    for file in FILES:
        text = (resources.files("eosctl.knowledge.reference") / f"{file}.toml").read_text(encoding="utf-8")
        for kind, entries in tomllib.loads(text).items():
            for name, body in entries.items():
                yield _entry(_KINDS[kind], name, body)


def _entry(kind: EntryKind, name: str, body: dict[str, Any]) -> Entry:
    if kind is EntryKind.INCIDENT:
        body = {**body, "aliases": [name.partition("/")[2], *body.get("aliases", [])]}
    return msgspec.convert({"kind": kind.value, "name": name, "means": "", **body}, Entry)
