"""Separate reports of errors from mentions: a record may deny an error, plan for it, or count those of a period.

``no REQUEST_TIMED_OUT in the last hour`` contains the name of an error but does not report one. Only the text next to
a name on the same line counts. In doubt, a mention is a report.
"""

from __future__ import annotations

import re
from typing import Final

_NAME: Final = r"(?:[A-Z][\w$]*[a-z][A-Z][\w$]*|_?[A-Z]{2,}(?:_[A-Z]+)+)"
"""An error's name as programs spell it, without the package: ``TimeoutException``, ``REQUEST_TIMED_OUT``."""
_NOUN: Final = "(?:errors?|exceptions?|failures?|count|total)"
_ASIDE: Final = (
    r"(?:an?|any|the|one|single|more|new|further|other|such|recent|known|longer|kafka|errors?|failures?|exceptions?"
    r"|(?:signs?|traces?|cases?|instances?|occurrences?|number|count) of|of|with|like|be|been|due to|caused by"
    r"|see|seeing|seen|get|getting|got|receive|throw|thrown|raised?|hit|had|have|observed?|find|saw)"
)
"""Words that may stand between a negation and the name that it negates."""
_DENIED: Final = re.compile(
    rf"(?i:\b(?:no|not|without|zero|neither|nor|never|none of|free (?:of|from))|n't)(?: (?i:{_ASIDE})\b)*"
    rf"(?: (?:\w+\.)*{_NAME}(?:,|,? (?:or|and|nor)|/))* [\"'`(\[]?$"
)
_NEVER: Final = re.compile(
    rf"(?i:(?: {_NOUN})?(?: (?:has|have|was|were|did|is|are|had|do|does))?(?: not| never|n't)(?: been| be)?"
    r" (?:seen|occur|occurred|happen|happened|observed|found|reported|raised|thrown|detected|logged)\b)"
)
_ZERO: Final = re.compile(r"0(?<![\w.-]0)(?![\w.])")
_ZERO_BEFORE: Final = re.compile(
    r"(?:^|[:;,(|>\]] ?|\b(?i:with|and|or|had|has|have|were|was|saw|seen|got|are|is|found|still|only) )"
    rf"0 (?:(?i:{_ASIDE}) )*$"
)
_NOTHING_BEHIND: Final = re.compile(
    rf"(?: (?i:{_NOUN}))?(?: ?= ?0(?![\w.])|: ?0(?=[,;)\]}}|]|$)| ?[=:] ?(?i:none|zero)\b)"
)
_NEXT_TO_ZERO: Final = re.compile(
    rf"(?<![\w.-])0 (?:(?i:{_ASIDE}) )*(?:\w+\.)*{_NAME}|\b{_NAME}(?: (?i:{_NOUN}))? ?[=:] ?0(?![\w.])"
)
_COUNT_BEFORE: Final = re.compile(r"(?<![\w.-])\d+(?: ?x| times)? $")
_COUNT_BEHIND: Final = re.compile(rf"(?: (?i:{_NOUN}))?(?: ?[=:x] ?| \(?)\d+\b(?!\.)")
_SPAN: Final = re.compile(
    r"(?i:\b(?:in|over|during|within|for) the (?:last|past|previous) (?:\d+ ?)?"
    r"(?:milliseconds?|seconds?|minutes?|hours?|days?|weeks?|ms|s|min|h|d|run|interval|window|period)\b"
    r"|\bsince (?:start|startup|boot|midnight|yesterday|the start)\b|\bso far\b|\bin total\b)"
)
_LISTED: Final = rf"(?:[\[({{:]? ?(?:(?:\w+\.)*{_NAME}(?:,|,? (?:or|and)|/) ?)*)[\"'`(\[]?$"
_INTENDED_BEFORE: Final = re.compile(
    r"(?i:\b(?:(?:will|would|shall|should|may|must|always|never) (?:only )?(?:be )?"
    r"(?:retr(?:y|ied)|restart(?:ed)?|ignored?|skip(?:ped)?|recover) (?:on|upon|in case of)|in case of"
    r"|handl(?:e|er|ers|es|ing) (?:of|for|on)|handlers?:? ?(?=[\[({])"
    r"|(?:retr\w+|recoverable|handled|ignored|tolerated|known)[ ._-]?(?:on|errors|exceptions|codes)[\"']? ?[=:])"
    r"(?: (?:any|an?|the|errors?|exceptions?|like))*) ?" + _LISTED
)
"""Words of a plan for an error that may happen: a policy, a handler, or a setting with a list of errors."""
_INTENDED_BEHIND: Final = re.compile(
    r"(?i: (?:handling|handler|policy|retries|retry) (?:is |are )?(?:now )?"
    r"(?:enabled|disabled|on|off|registered|configured|installed|set)\b)"
)
_CAUSES: Final = "causes include "
"""Kafka lists the possible causes of an error that happened (``TransactionMarkerChannelManager``)."""
_NEXT_IN_LIST: Final = re.compile(rf"(?:, ?(?:and |or )?| and | or )(?:\w+\.)*{_NAME}(?![\w:])")
_LAST_IN_LIST: Final = re.compile(rf"(?<![\w.])(?:\w+\.)*{_NAME}(?:, ?(?:and |or )?| and | or )$")
"""Several names in a row are a list of what may happen, unless the words in front of them report a failure."""
_FAILED: Final = re.compile(r"(?i:\b(?:fail\w*|refus\w+|reject\w+|abort\w+|could not|unable|cannot|got|received)\b)")
_REACH: Final = 160
"""Number of characters next to a name that are read."""
_WORD: Final = re.compile(r"[\w$]*")
_NAMED: Final = re.compile(rf"(?:\w+\.)*{_NAME}s?")


def counts_nothing(text: str) -> bool:
    """Return whether a text may count an error as zero, so that its digits decide its meaning."""
    return _ZERO.search(text) is not None and _NEXT_TO_ZERO.search(text) is not None


def is_report(text: str, start: int, end: int) -> bool:
    """Return whether a text reports the error from ``start`` to ``end`` as having happened.

    A negation, a count of zero, a count for a period, or a plan for the case next to the name makes it a mention.
    """
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    line = text[line_start : len(text) if line_end < 0 else line_end]
    first, last = start - line_start, min(end - line_start, len(line))
    # A pattern may match a part of a name, without its package.
    while first > 0 and (line[first - 1].isalnum() or line[first - 1] in "._$"):
        first -= 1
    word = _WORD.match(line, last)
    last = last if word is None else word.end()
    before, behind = line[max(0, first - _REACH) : first], line[last : last + _REACH]
    if _DENIED.search(before) is not None or _NEVER.match(behind) is not None:
        return False
    if _NAMED.fullmatch(line[first:last]) is None:
        return True
    if _INTENDED_BEFORE.search(before) is not None or _INTENDED_BEHIND.match(behind) is not None:
        return False
    is_listed = _NEXT_IN_LIST.match(behind) is not None or _LAST_IN_LIST.search(before) is not None
    if is_listed and _CAUSES not in line and _FAILED.search(before) is None:
        return False
    if _ZERO_BEFORE.search(before) is not None or _NOTHING_BEHIND.match(behind) is not None:
        return False
    counted = _COUNT_BEFORE.search(before) is not None or _COUNT_BEHIND.match(behind) is not None
    return not (counted and _SPAN.search(line) is not None)
