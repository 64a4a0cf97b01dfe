"""Distinguish keys that are secret (`app_key`, `fernetKey`) from those of records and tables (`partition.key`).

A name that ends with `key` is secret by the word before, unless this word names what keys of data belong to. Where only
a blank stands between the two, or the word names both kinds of keys, the value decides: it must be random.
"""

from __future__ import annotations

import re
from typing import Final

from eosctl.model.random_words import is_random

#: A name that ends with a key, in lower case; what stands before it is left to `is_secret_key`.
KEY_NAME: Final = (
    r"(?P<key>key(?:[._-]?(?:data|hex|value|base\d\d|b\d\d)|[._-]\d{1,3}|[ ]\d{1,2}(?=[ ]?[:=]))?(?![\w.-]))"
)
# The last word before, and what joins it with the key
_WORD_BEFORE: Final = re.compile(r"(?P<word>[A-Z]?[a-z\d]+|[A-Z\d]+)(?P<joint>[._-]{0,2}|[ ])\Z", re.ASCII)
_LONGEST_WORD: Final = 40
# monkey
_OTHER_WORDS: Final = frozenset({"mon", "tur", "don", "hoc", "joc", "whis", "mic", "dic"})
_OF_DATA: Final = frozenset({
    "attribute", "avro", "bucket", "business", "by", "cache", "class", "cluster", "clustering", "column",
    "composite", "config", "configuration", "connector", "consumer", "context", "correlation", "create", "dedup",
    "deduplication", "default", "distribution", "document", "duplicate", "end", "entity", "entry", "event",
    "extract", "feature", "field", "first", "for", "foreign", "future", "group", "grouping", "has", "header", "hot",
    "idempotency", "index", "input", "invalid", "is", "item", "java", "join", "json", "key", "label", "last",
    "lookup", "map", "max", "member", "message", "metadata", "metric", "min", "missing", "natural", "new", "no",
    "null", "object", "of", "offset", "old", "on", "option", "order", "ordering", "output", "parameter",
    "partition", "partitioner", "partitioning", "primary", "producer", "property", "public", "quota", "range",
    "raw", "record", "registry", "replica", "request", "resource", "response", "row", "selection", "sequence",
    "setting", "shard", "sharding", "sink", "sort", "source", "start", "state", "string", "surrogate", "table",
    "tag", "task", "the", "to", "tombstone", "topic", "topology", "transaction", "translation", "unique", "unknown",
    "voted", "voter", "window", "windowed", "with",
})  # fmt: skip
#: Words that stand before both kinds of keys.
_OF_BOTH: Final = frozenset({"routing", "hash", "service", "session", "customer", "user", "tls"})
# Numbers, words of languages, and objects of Java: ReplicaKey(id=1), Optional[x], Optional.empty
_DATA: Final = re.compile(
    r"(?:\d{1,19}|[Tt]rue|[Ff]alse|null|[Nn]one)(?![\w.-])|Optional|[A-Z][a-z]+[\w.$]{0,128}[(\[{@]|[(\[{<]|class ",
    re.ASCII,
)
_VALUE: Final = re.compile(r"\\*[\"']?(?P<word>[\w+/=.:-]{16,2048})", re.ASCII)


def is_secret_key(text: str, start: int, end: int, value: int | None = None) -> bool:
    """Return whether a name that ends with a key is that of a secret.

    Args:
        text: What holds the name.
        start: Where its `key` starts.
        end: Where it ends.
        value: Where its value starts; None if only the name is known.

    >>> [is_secret_key(name, len(name) - 3, len(name)) for name in ("appKey", "fernet_key", "partition.key", "key")]
    [True, True, False, False]
    """
    found = _WORD_BEFORE.search(text, max(start - _LONGEST_WORD, 0), start)
    if found is None:
        return False
    word = found["word"].lower()
    if word in _OF_DATA or (not found["joint"] and text[start] == "k" and word in _OTHER_WORDS):
        return False
    if value is None:
        return True
    if found["joint"] == " " or word in _OF_BOTH:
        random = _VALUE.match(text, value)
        return random is not None and is_random(random["word"])
    return _DATA.match(text, value) is None
