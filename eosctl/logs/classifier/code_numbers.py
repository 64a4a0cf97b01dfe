"""Translate error codes that clients print as numbers into the codes' names, so that both spellings mean the same.

A client prints the number of a code that is newer than its own table, or that its language has no name for. All
categories and fields follow from the name, which is appended to the record's text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Final

from eosctl.wire.error_codes import ErrorCode

_END: Final = r"\b(?![.:]\d|%)"
_SIGN: Final = r"[\"']?(?: ?[=:#] ?| is | was )?[\"' (\[]{0,2}"
_CERTAIN: Final = re.compile(
    rf"(?:[Ee]rror[ _-]?[Cc]ode|ERROR[ _]CODE|[Ee]rror with code|\bKError\.?){_SIGN}(-?\d{{1,3}}){_END}"
    rf"|\[Error (\d{{1,3}})\]"
    rf"|\b(?:Err-|ERR_)(\d{{1,3}})\?"
    rf"|\bKafkaError\{{[^}}\n]{{0,80}}\bval=(-?\d{{1,3}}){_END}"
    rf"|\[(\d{{1,3}})\] : "
)
"""Spellings of Kafka's clients: Java, Sarama, KafkaJS, ruby-kafka, kafka-python, librdkafka, and kafka-go."""
_PROBABLE: Final = re.compile(
    r"(?<![\w.-])(?:err(?:or)?[ _]?(?:no|num|number)?|(?:err_?)?code|(?:fail|refus|reject)ed with"
    rf"|(?:fail|refus|reject)ed(?=:? ?[(\[]))\b{_SIGN}(-?\d{{2,3}}){_END}"
    r"(?= *(?:$|[^\w\s/]|[a-z]+=)| (?:from|on|for|while|when|at|in|by)\b)",
    re.IGNORECASE | re.MULTILINE,
)
"""Spellings that other systems share: they count in records about Kafka."""
_KAFKA: Final = re.compile(
    r"kafka|sarama|EndTxn|ToTxn|InitProducerId|TxnOffsetCommit|JoinGroup|SyncGroup"
    r"|(?:commit|abort|begin|end|init|send_?offsets_?to)[ _]?transactions?\b|transactional"
    r"|\bproducer|\bconsumer|\bKError",
    re.IGNORECASE,
)
_OF_OTHERS: Final = re.compile(
    r"\b(?:exit\w*|status|https?|\w*sql\w*|g?rpc|ssl|tls|os|system|socket|curl|vendor|signal|response|return\w*|ora\w*"
    r"|postgres\w*|db|database|redis|mongo\w*|aws|s3|ftp|smtp|ldap|windows|win32)"
    r"(?:[ :_-]{1,2}(?:with|error|err|an?))*[ :_-]*$"
    r"|\bcharacter ?\([^\n]{1,8}[ '\"]\($",
    re.IGNORECASE,
)
"""The words in front of the numbers of other systems, and a character in front of its number (Jackson)."""
_OTHER_CONSTANT: Final = re.compile(r"\b(?!UNKNOWN|KAFKA|ERR_)([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+) ?[\[(]$")
"""The name of an error that has the number behind it: ``LEADER_NOT_READY_TO_SERVE[code 23]``."""
_THROWN: Final = re.compile(r"\s*(?:Caused by: )?(?:[a-z]\w*\.){1,8}[\w$]{1,80}(?:Exception|Error)\b")
"""The beginning of an exception with its package, or of the cause of one."""
_REACH: Final = 40
"""Number of characters in front of a code that are read."""

_WORDS: Final = (
    *("rror", "ERROR", "err", "Err-", "ERR_", "code", "Code", "CODE", "ed with", "ed (", "ed: (", "ed [", "ed: ["),
    "] : ",
)
_NEAR: Final = re.compile(
    r"(?:rror|RROR|[Ee]rr|ERR|ode|ODE|ed(?= with|:? [(\[])|val=)[^\n\d]{0,24}"
    r"(?:(?<=[ =:#(\[\"'])-?|(?<=Err-)|(?<=ERR_)|(?<=KError\.))\d{1,3}(?![\d.:]\d)|\d\] : "
)
"""What each spelling contains: most records have nothing like it, and the other expressions need more time."""


def names_of_codes(text: str) -> str:
    """Return the names of the error codes that a text has as numbers only, separated by spaces; empty without one.

    Codes below -1 are librdkafka's own; their names are in parentheses, as its bindings print them.
    """
    if not any(word in text for word in _WORDS) or _NEAR.search(text) is None:
        return ""
    names = dict.fromkeys(_names()[code] for code in _numbers(text) if code in _names())
    return " ".join(name for name in names if name not in text)


def _numbers(text: str) -> Iterator[str]:
    names_kafka = _KAFKA.search(text) is not None
    for line in text.splitlines():
        # What the message or another cause says does not make the number of an exception Kafka's.
        is_of_kafka = names_kafka and (_THROWN.match(line) is None or _KAFKA.search(line) is not None)
        for pattern in (_CERTAIN, _PROBABLE) if is_of_kafka else (_CERTAIN,):
            for found in pattern.finditer(line):
                number = next(filter(None, found.groups()))
                before = line[max(0, found.start() - _REACH) : found.start()]
                named = _OTHER_CONSTANT.search(before)
                is_other = _OF_OTHERS.search(before) or (named and named[1] not in _names().values())
                # Any program has errors with the numbers 1 to 9.
                if (is_of_kafka or len(number) > 1) and not is_other:
                    yield number


@cache
def _names() -> dict[str, str]:
    table = files("eosctl.knowledge.reference").joinpath("client_errors.tsv").read_text("utf-8")
    rows = [line.split("\t") for line in table.splitlines()]
    local = {code: f"({name})" for client, code, name, *_ in rows if client == "librdkafka" and name.startswith("_")}
    return {**local, **{str(code.value): code.name for code in ErrorCode if code.value > 0}}
