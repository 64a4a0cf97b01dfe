"""Correct the spelling of the words that a destructive procedure needs: its verbs and the names of internal topics.

A typing error must not get a procedure past its refusal. Only a few long words are corrected, since a short word of one
letter's difference is often another word.
"""

from __future__ import annotations

import re
from collections.abc import Container
from difflib import get_close_matches
from functools import lru_cache
from typing import Final

import msgspec

_WORD: Final = re.compile(r"(?<![\w./-])[a-z]{5,12}(?![\w/-]|\.\w)")
_TOPIC: Final = re.compile(r"(?<![a-z0-9])__?(?=[a-z])[a-z_]{10,20}?(?=-|$|[^a-z_])")
_ALIKE: Final = 0.83
"""The share of common letters, from 0 to 1: one missing, doubled, or exchanged letter of six."""
_TOPICS_ALIKE: Final = 0.9


class Spelling(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The words to correct to, and the words that only resemble them."""

    verbs: tuple[str, ...]
    topics: tuple[str, ...]
    other: frozenset[str]

    def correct(self, text: str, known: Container[str] = ()) -> str:
        """Return a text in small letters with the spelling of these words corrected, except that of known words.

        >>> Spelling(("repair",), ("__transaction_state",), frozenset()).correct("repiar __transction_state-1")
        'repair __transaction_state-1'
        """
        text = _TOPIC.sub(lambda found: _nearest(found[0], self.topics, _TOPICS_ALIKE), text)
        return _WORD.sub(lambda found: self._corrected(found[0], known), text)

    def _corrected(self, word: str, known: Container[str]) -> str:
        candidates = tuple(verb for verb in self.verbs if verb[0] == word[0])
        if not candidates or word in known or word in self.other:
            return word
        return _nearest(word, candidates, _ALIKE)


@lru_cache(maxsize=4096)
def _nearest(word: str, names: tuple[str, ...], alike: float) -> str:
    return next(iter(get_close_matches(word, names, n=1, cutoff=alike)), word)
