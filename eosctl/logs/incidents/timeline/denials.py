"""Recognize sentences that deny work, or only announce it: they hold the words of work, and prove the opposite.

A program that stands still reports it in the words of its work: ``nothing consumed for 200s``, ``waiting until 12
records are committed``, ``0 of 40 rows written``. A count of zero errors, or a success after failed attempts, denies
nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_TROUBLE: Final = (
    r"(?:errors?|failures?|failed|failing|faults?|lag|loss(?:es)?|lost|drop(?:s|ped)?|retr(?:y|ies|ied)|problems?"
    r"|issues?|duplicates?|exceptions?|warnings?|time-?outs?|skipped|rejected|refused|aborted|pending|in[ -]flight"
    r"|backlog|behind|waiting|remaining|open|queued?)"
)
_HARMLESS: Final = re.compile(
    rf"(?i:(?<![\w.,:-])(?:no|without|zero|0)(?: (?!be\b)[a-z][\w-]*){{0,2}} {_TROUBLE}\b"
    rf"|\b(?:[\w-]+[_.-])?{_TROUBLE}\b['\"]?(?: count| total)?\s?[=:]?\s?(?:0(?![\d/]|[.,:]\d)|none\b|no\b|false\b)"
    r"|\bafter (?:[\w-]+ ){0,4}(?:attempts?|retr(?:y|ies)|time-?outs?|errors?|failures?|aborts?|restarts?|outages?)\b)"
)
"""Trouble that did not occur, and trouble that is over."""
_DENIED: Final = re.compile(
    r"(?i:(?<![\w./-])(?:no|not|none|nothing|never|neither|nor|without|zero|cannot|hardly|barely|unable|unavailable"
    r"|unreachable|fail\w*|errors?|exceptions?|fatal|refus\w*|reject\w*|denied|timed[ -]out|fenced|expired"
    r"|time-?outs?(?! ?[=:] ?\d)"
    r"|lost|stuck|stall\w*|blocked|idle|suspended|paused|halted|frozen|stopp\w*|(?:gave|giving|give) up|wait\w*"
    r"|await\w*|would|will|should|must|could|may|until|unless|if|to be|being|about to|trying|try|tries|attempting"
    r"|next|ago|expect\w*)(?![./-]?\w)|n't\b)"
)
"""Words with which a sentence about work denies it, expects it, or dates it back."""


@lru_cache(maxsize=4_096)
def denies(message: str) -> bool:
    """Return whether a sentence denies, expects, or dates back what it names.

    >>> denies("matcher: nothing consumed for 200s")
    True
    >>> denies("delivered 500 records, 0 failed"), denies("commit ok after 2 failed attempts")
    (False, False)
    """
    return _DENIED.search(_HARMLESS.sub(" ", message)) is not None
