"""Find credentials without a form of their own behind a word that announces one: `PAT x`, `the token "x" has expired`.

Such words also stand before names and numbers, so only a random word is masked, or a UUID behind a word that stands
before credentials alone. Other UUIDs stay readable, and so does what follows the keys of records and tables. Each
character is read a bounded number of times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eosctl.model.random_words import is_random
from eosctl.model.secret_keys import is_secret_key

_WORDS: Final = (
    "pat", "sas", "jwt", "t?otp", "auth(?:orization)?", "license", "cookie", "webhook", "signature", "bearer",
    "credentials?", "secrets?", "tokens?", "pass(?:word|phrase|code)s?", "pwd?", "connection string", "jeton",
    "api[_-]?keys?", r"\w{0,32}tokens?", "令牌", "トークン", "토큰",
)  # fmt: skip
#: Each alternative of _WORDS holds one of these.
_HINTS: Final = (
    "pat ", "pat:", "pat=", "pat'", 'pat"', "sas ", "sas:", "jwt", "otp", "auth", "license", "cookie", "webhook",
    "signature", "bearer", "credential", "secret", "token", "passw", "phrase", "passcode", "pw ", "pwd", "jeton",
    "connection string", " key", "-key", "_key", "?key=", "&key=", "?code=", "&code=", "apikey",
    "令牌", "トークン", "토큰",
)  # fmt: skip
_BETWEEN: Final = (
    "value|values|header|used|given|provided|sent|received|is|was|set|to|with|using|invalid|rejected|expired|unknown|"
    "revoked|new|old|current|string|named|called|id|for[ ](?:user|role|account)[ ][^\\s]{1,64}"
)
_TELLING: Final = re.compile(
    rf"(?<![a-z\d])(?:(?:{'|'.join(_WORDS)})|[a-z\d]{{2,20}}[ _-](?P<key>key)s?|(?<=[?&])(?:key|code)(?==))(?![a-z\d])"
    rf"(?P<joint>\\*[\"'`]?(?:[ ](?:{_BETWEEN}))*+(?:[ ]\w{{1,32}}(?=:))?[ ]?[:=/]?[ ]{{0,2}}\\*[\"'`(<\[]?)"
    r"(?P<word>[\w+/=.~-]{20,2048})"
)
# Names in capital letters have signs between their words.
_IS_CAPITALS: Final = re.compile(r"(?=[A-Z]*\d)[A-Z\d]+")
# Words before UUIDs that are identifiers: the token id x, token for request x, webhook x, fencing token x
_OF_IDENTIFIER: Final = re.compile(r"[ ](?:id|for)\b")
_NO_CREDENTIAL: Final = re.compile(
    r"(?:webhook|license|signature|connection|cookie|jwt|t?otp|sas)\b|"
    r"\w{0,32}(?:fencing|correlation|cancell?ation|continuation|consistency|sync|lock|page|registration)_?token"
)
_OTHER_TOKEN: Final = re.compile(
    r"\b(?:fencing|correlation|cancell?ation|continuation|consistency|sync|lock|page|registration)[ -]\Z"
)
_LONGEST_BEFORE: Final = 16
_KEYS_OF_UUIDS: Final = ("api", "access", "auth", "secret", "subscription", "ingest", "write")
_UUID: Final = re.compile(r"(?:urn:uuid:)?[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}(?![\w-])")


def sentence_spans(text: str, lower: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each random word that a word for credentials announces.

    Args:
        text: What to search.
        lower: The same in lower case, of the same length.

    >>> text = "PAT nd2ch6nu2tuam8an1iw27704itseok8v2yp78usvwksxelyt3z61 has expired"
    >>> [text[start:end] for start, end in sentence_spans(text, text.lower())]
    ['nd2ch6nu2tuam8an1iw27704itseok8v2yp78usvwksxelyt3z61']
    """
    for hint in _HINTS:
        if hint in lower:
            break
    else:
        return
    for found in _TELLING.finditer(lower):
        start, end = found.span("word")
        if not found["joint"]:
            continue
        word = text[start:end].rstrip(".-")
        if _UUID.match(lower, start) is not None:
            if _announces_uuid(lower, found):
                yield start, start + len(word)
            continue
        if found["key"] is not None and not is_secret_key(text, *found.span("key"), start):
            continue
        if is_random(word) or _IS_CAPITALS.fullmatch(word) is not None:
            yield start, start + len(word)


def _announces_uuid(lower: str, found: re.Match[str]) -> bool:
    """Return whether a UUID behind a word that announces one is a credential, and not the identifier of one."""
    start = found.start()
    if _OF_IDENTIFIER.search(found["joint"]) is not None or _NO_CREDENTIAL.match(lower, start) is not None:
        return False
    if found["key"] is not None:
        return lower[start : found.start("key") - 1] in _KEYS_OF_UUIDS
    return _OTHER_TOKEN.search(lower, max(start - _LONGEST_BEFORE, 0), start) is None
