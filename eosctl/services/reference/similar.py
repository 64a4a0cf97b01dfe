"""Names that are spelled like a word."""

from __future__ import annotations

import atexit
import sqlite3
from functools import cache

from eosctl.knowledge.reference.index import load_index

_SHORTEST = 3
"""Trigrams need three letters."""


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
