"""Find credentials that no list names: random words behind a short prefix, as in `sk_test_...` and `PMAK-...`.

Random is what changes between letters and digits, or between small and capital letters, more often than a name does.
Identifiers that Kafka and its platforms make look alike and stay: UUIDs, digests, commits, and what a name of an
identifier stands before. All digits are alike here: see `redaction.secret_spans`. Each character is read a bounded
number of times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

# Each match is a place where a random word changes its kind of characters, or holds what no syllable does.
_CHANGE: Final = re.compile(r"(?<=[a-z])[A-Z\d]|(?<=\d)[A-Za-z]|(?<=[A-Z])\d", re.ASCII)
_CONSONANTS: Final = re.compile(r"[b-df-hj-np-tv-xz]{4}|[B-DF-HJ-NP-TV-XZ]{4}", re.ASCII)
#: Longest average part of a random word between two changes. Words of names have more letters.
_LONGEST_PART: Final = 5
_RUN: Final = re.compile(r"(?<=[_~-])[A-Za-z\d]{16,}", re.ASCII)
_WORD_BEFORE: Final = re.compile(r"[\w~-]*\Z", re.ASCII)
_LONGEST_PREFIX: Final = 160
_PREFIX: Final = re.compile(
    r"(?P<first>[A-Za-z][A-Za-z\d]{1,10})(?:[_-][A-Za-z\d.]{1,8}){0,3}(?:[_~-][A-Za-z\d]{16,64}){0,3}(?P<sign>[_~-])",
    re.ASCII,
)
# The rest of the word and of what further parts are joined with
_REST: Final = re.compile(r"[\w~+/%-]*={0,2}(?:\.[\w-]{6,512})*", re.ASCII)
_HEXADECIMAL: Final = re.compile(r"[a-f\d]+|[A-F\d]+", re.ASCII)
_SHORTEST_SMALL: Final = 20
# As many digits as a digest behind a name has: half of them are tokens, where the sign is an underscore.
_SHORTEST_HEXADECIMAL: Final = 40
#: Length of Kafka's own UUIDs in Base64: ids of clusters, topics, directories, and members.
_KAFKA_UUID: Final = re.compile(r"(?:[A-Za-z][A-Za-z\d.]{0,63}-)?[\w-]{21}[AQgw](?:-\d{1,5})?(?![\w-])", re.ASCII)
_DIGEST: Final = re.compile(
    r"(?:sha|md|crc|blake)\d*|git|commit|rev|revision|build|digest|hash|docker|trace|span|image", re.ASCII
)
# transactionalId=x, trace_id: x, topic 'x', group x, TransactionalId:LITERAL:x
_IDENTIFIED: Final = re.compile(
    r"(?:(?:(?<![a-z])|(?<=[a-z])(?=I))(?:[iI]d|ID|uuid|UUID)s?|[tT]opics?|[gG]roup|[mM]ember|[pP]artitions?|commit|"
    r"digest|[rR]evision|[vV]ersion|[hH]ash|sha\d*|[hH]ost(?:name)?|[pP]od|[cC]ontainer|[iI]mage|node|[cC]lient)"
    r"\\*[\"'\]]?[ ]{0,2}[=: ][ ]{0,2}\\*[\"'\[(]?\Z|\b[A-Z][A-Za-z]{3,20}:(?:LITERAL|PREFIXED):\Z",
    re.ASCII,
)
_BEFORE: Final = 40


def is_random(word: str) -> bool:
    """Return whether a word of letters and digits is likelier random than a name.

    >>> is_random("5Pbc2lSqTwN5Tye8mGxc"), is_random("AddPartitionsToTxnManager")
    (True, False)
    """
    changes = len(_CHANGE.findall(word)) + len(_CONSONANTS.findall(word))
    return changes * _LONGEST_PART >= len(word)


def random_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each word that is a token by its randomness.

    >>> text = "refused AVNS_5Pbc2lSqTwN5Tye8mGx for topic QUW-ozuQReue0Uak9cmUQQ"
    >>> [text[start:end] for start, end in random_spans(text)]
    ['AVNS_5Pbc2lSqTwN5Tye8mGx']
    """
    position = 0
    for run in _RUN.finditer(text):
        if run.start() < position or not is_random(run[0]):
            continue
        found = _WORD_BEFORE.search(text, max(run.start() - _LONGEST_PREFIX, 0), run.start())
        start = run.start() if found is None else found.start()
        if _is_token(text, start, run) and not _IDENTIFIED.search(text, max(start - _BEFORE, 0), start):
            rest = _REST.match(text, run.end())
            position = run.end() if rest is None else rest.end()
            yield start, position


def _is_token(text: str, start: int, run: re.Match[str]) -> bool:
    """Return whether a random part makes a token of the word that starts before it."""
    word = run[0]
    if start and text[start - 1] in ".$":  # a part of a name
        return False
    prefix = _PREFIX.fullmatch(text, start, run.start())
    if prefix is None or (len(word) < _SHORTEST_SMALL and (word.islower() or word.isupper())):
        return False
    if prefix["sign"] != "~" and _DIGEST.fullmatch(prefix["first"].lower()) is not None:
        return False
    if _KAFKA_UUID.match(text, start) is not None:
        return False
    if _HEXADECIMAL.fullmatch(word) is None or prefix["first"].isupper():
        return True
    return prefix["sign"] == "_" and len(word) >= _SHORTEST_HEXADECIMAL
