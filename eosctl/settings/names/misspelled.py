"""Keys that are one letter away from a setting which only Kafka has: ``transactonal.id``, ``bootstrap.server``.

Kafka ignores a misspelled key, and a file of such keys does not name Kafka: it would count as one of another program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from eosctl.settings.names.unread import CLIENT_SETTINGS

_NAMES: Final = frozenset(
    {
        *(name for name in CLIENT_SETTINGS if "." in name),
        *("bootstrap.servers", "processing.guarantee", "min.insync.replicas", "transactional.id.expiration.ms"),
        *("transaction.max.timeout.ms", "exactly.once.source.support", "unclean.leader.election.enable"),
    }
)
_KEY: Final = re.compile(r"^[ \t]*[\"']?([A-Za-z]+(?:[._-][A-Za-z]+){1,5})[\"']?[ \t]*[=:]", re.MULTILINE)
_SHORTEST, _LONGEST = min(map(len, _NAMES)) - 1, max(map(len, _NAMES)) + 1


def misspelled_settings(text: str) -> Iterator[str]:
    """Yield the keys at the begin of a line that resemble a setting of Kafka, and are none.

    One letter is missing, too many, or another one; or two neighbors have changed places.

    >>> list(misspelled_settings("transactonal.id=a\\nenable-idempotnce: true\\nisolation.level=x\\nacks=1"))
    ['transactonal.id', 'enable-idempotnce']
    """
    for found in _KEY.finditer(text):
        key = found[1].replace("-", ".").replace("_", ".").lower()
        if _SHORTEST <= len(key) <= _LONGEST and key not in _NAMES and _is_near(key):
            yield found[1]


def _is_near(key: str) -> bool:
    shorter = _shortened()
    return key in shorter or any(one in _NAMES or one in shorter for one in _without_one(key))


def _without_one(word: str) -> Iterator[str]:
    return (word[:at] + word[at + 1 :] for at in range(len(word)))


@cache
def _shortened() -> frozenset[str]:
    """Return every name without one of its letters: two words one letter apart have such a rest in common."""
    return frozenset(one for name in _NAMES for one in _without_one(name))
