"""Names that are spelled like a word, and the error for a question without an entry."""

from __future__ import annotations

import atexit
import re
import sqlite3
from functools import cache
from typing import Final

from eosctl.errors import UsageError
from eosctl.knowledge.reference.index import load_index

_SHORTEST = 3
"""Trigrams need three letters."""
_TRACKERS: Final = {
    "kip": "https://cwiki.apache.org/confluence/display/KAFKA/KIP-",
    "kafka": "https://issues.apache.org/jira/browse/KAFKA-",
    "flink": "https://issues.apache.org/jira/browse/FLINK-",
    "librdkafka": "https://github.com/confluentinc/librdkafka/issues/",
}
ISSUE: Final = re.compile(rf"(?i)(?P<tracker>{'|'.join(_TRACKERS)})[ #-]{{0,3}}(?P<number>\d{{1,6}})")
"""A text that is the id of a proposal or a bug, and nothing else."""


def unknown_error(question: str, nearest: tuple[str, ...]) -> UsageError:
    """Return the error for a question without an entry: its tracker, or the nearest names and how to search.

    Args:
        question: The question.
        nearest: Names of entries that resemble it.
    """
    shown = " ".join(question.split())[:80]
    if issue := ISSUE.fullmatch(shown):
        address = f"{_TRACKERS[issue['tracker'].lower()]}{issue['number']}"
        why = "It has the proposals and bugs that concern exactly-once; eosctl explain lists them."
        return UsageError(f"The reference does not have {shown}.", why, f"Read it at {address}")
    return UsageError(
        f"No entry fits {shown!r}.",
        f"Did you mean {', '.join(nearest)}?" if nearest else "None of its words is in the reference.",
        "List all entries: eosctl explain. Describe what you see: eosctl diagnose WORDS",
    )


def similar_names(text: str, limit: int) -> tuple[str, ...]:
    """Return the names of entries that share the most trigrams with a text, the most similar first."""
    letters = "".join(letter if letter.isalnum() else " " for letter in text[:200].lower())
    trigrams = {word[at : at + 3] for word in letters.split() for at in range(len(word) - 2)}
    if not trigrams:
        return ()
    names = _names()
    query = " OR ".join(f'"{trigram}"' for trigram in sorted(trigrams))
    sql = "SELECT rowid FROM name WHERE name MATCH ? ORDER BY bm25(name), rowid LIMIT ?"
    rows = _database().execute(sql, (query, limit)).fetchall()
    return tuple(names[row[0] - 1] for row in rows)


@cache
def _names() -> tuple[str, ...]:
    return tuple(dict.fromkeys(entry.name for entry in load_index() if len(entry.name) >= _SHORTEST))


@cache
def _database() -> sqlite3.Connection:
    database = sqlite3.connect(":memory:", check_same_thread=False)
    atexit.register(database.close)
    database.execute("CREATE VIRTUAL TABLE name USING fts5(letters, tokenize='trigram')")
    database.executemany("INSERT INTO name(rowid, letters) VALUES (?, ?)", enumerate(_names(), 1))
    return database
