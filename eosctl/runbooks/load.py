"""Read runbooks: those that come with eosctl, and files."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from eosctl.errors import unknown_name
from eosctl.knowledge.reference.index import explained_elsewhere
from eosctl.knowledge.small_files import parse_yaml_as, read_small_text
from eosctl.model.runbook import Runbook

_FORMAT = "The format: eosctl runbook new shows an example, eosctl schema runbook the JSON Schema."


class Source(NamedTuple):
    """A runbook, where it comes from, the SHA-256 of its text, and the text."""

    book: Runbook
    name: str
    digest: str
    text: str


def parse_runbook(text: str, name: str) -> Source:
    """Read a runbook.

    Raises:
        ConfigFileError: It is not YAML, or not a runbook; the message names the key.
    """
    book = parse_yaml_as(Runbook, text, name, "runbook", _FORMAT)
    return Source(book, name, hashlib.sha256(text.encode()).hexdigest(), text)


def read_runbook(path: Path) -> Source:
    """Read a runbook from a file.

    Raises:
        ConfigFileError: It cannot be read, or is none.
    """
    return parse_runbook(read_small_text(path, "runbook"), str(path))


@cache
def library() -> tuple[Source, ...]:
    """Return the runbooks that come with eosctl, by id."""
    folder = files("eosctl.runbooks") / "library"
    found = [entry for entry in folder.iterdir() if entry.name.endswith(".yaml")]
    return tuple(
        parse_runbook(entry.read_text(encoding="utf-8"), entry.name) for entry in sorted(found, key=lambda e: e.name)
    )


def find_runbook(name: str) -> Source:
    """Return the runbook of the library with this id, or that of a file.

    Raises:
        UsageError: No runbook has this id.
        ConfigFileError: The file cannot be read, or is none.
    """
    if name.endswith((".yaml", ".yml")):
        return read_runbook(Path(name))
    for source in library():
        if source.book.id == name:
            return source
    raise unknown_name(
        "runbook",
        name,
        (source.book.id for source in library()),
        'List them: eosctl runbook list; find one by what you see: eosctl diagnose "WORDS"; a file ends in .yaml'
        f"{explained_elsewhere(name)}",
    )


def runbooks_for(check_id: str) -> tuple[Runbook, ...]:
    """Return the runbooks that a check's finding leads to."""
    from eosctl.checks.registry import check_id_of  # loaded late: listing runbooks needs no checks

    return tuple(source.book for source in library() if check_id in map(check_id_of, source.book.findings))


def example(book_id: str) -> str:
    """Return the text of a small runbook that runs.

    Args:
        book_id: What it shall be called, see `as_id`.
    """
    text = (files("eosctl.runbooks") / "example.yaml").read_text(encoding="utf-8")
    return text.replace("id: my-runbook", f"id: {as_id(book_id)}")


def as_id(text: str) -> str:
    """Return a text as an id: letters that an id cannot have become hyphens."""
    slug = re.sub("[^a-z0-9]+", "-", text.lower()).strip("-")
    return slug if slug[:1].isalpha() else f"runbook-{slug}".rstrip("-")
