"""Find passwords in the commands of protocols: `AUTH` of Redis and SMTP, `HELLO`, and `ACL SETUSER`.

Clients and servers log these commands as they are. `AUTH` also stands in sentences, so without a sign of Redis (its
prompt, its tool, quotes, or its wire format) only a word that looks like a password is masked. Each character is read a
bounded number of times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_LINE_END: Final = r"(?:\\r\\n|\r\n)"
_WORD: Final = r"[^\s\"'<>\[\]]{1,512}"
_QUOTED: Final = r"\\?\"((?:[^\"\\\n]|\\[^\"]){1,512})\\?\""
_FORMS: Final = tuple(
    re.compile(pattern, re.ASCII)
    for pattern in (
        # 127.0.0.1:6379> AUTH x, redis-cli -h h AUTH user x
        rf"(?:\d> ?|\bredis-cli\b[^\n|;]{{0,200}}? )(?:AUTH|auth) (?:{_WORD} (?=\S))?({_WORD})",
        # 1339518083.1 [0 127.0.0.1:60866] "AUTH" "user" "x"
        rf"\\?\"(?:AUTH|auth)\\?\" (?:\\?\"[^\"\n]{{1,256}}\" (?=\\?\"))?{_QUOTED}",
        # *3 $4 AUTH $4 user $1 x, one line each
        (
            rf"(?:\b|(?<=\\n))(?:AUTH|auth){_LINE_END}"
            rf"(?:\$\d{{1,4}}{_LINE_END}[^\s\\]{{1,512}}{_LINE_END}(?=\$))?\$\d{{1,4}}{_LINE_END}([^\s\\]{{1,512}})"
        ),
        # HELLO 3 AUTH user x
        rf"\b(?:HELLO|hello) \d (?:AUTH|auth) {_WORD} ({_WORD})",
        # ACL SETUSER user on >x ~*
        r"\b(?:SETUSER|setuser)\b[^\n>]{0,200}[ \"]>([^\s\"']{1,512})",
        # AUTH PLAIN AGFsaWNlAHNlY3JldA==: the name of a mechanism, and a response in Base64
        r"\bAUTH (?:PLAIN|LOGIN|XOAUTH2|OAUTHBEARER) (?=[A-Za-z\d+/]{0,256}[\d=+/])([A-Za-z\d+/]{8,512}={0,2})",
        # AUTH x, AUTH user x: letters with digits, but for names of mechanisms
        (
            r"(?<![\w.-])AUTH (?:[a-z][\w.-]{0,63} )?"
            r"(?!X?OAUTH|CRAM-|SCRAM-|DIGEST-|SHA|MD\d|NTLM|TLS|SSL|SASL|[A-Z]+\b|\w+[=:])"
            r"((?=[^\s\"'<>(){},;]{6})(?=[^\s\d]{0,256}\d)(?=\d{0,256}[A-Za-z])[^\s\"'<>(){},;]{6,512})"
        ),
    )
)
#: Each form holds one of these.
_HINTS: Final = (
    "AUTH ", 'AUTH"', "AUTH\\", "AUTH\r", "SETUSER", "setuser", "> auth ", ">auth ", "redis-cli", '"auth"', 'auth\\"',
    "auth\\r", "auth\r", "hello ", "HELLO ",
)  # fmt: skip


def command_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each password in a command.

    >>> text = "127.0.0.1:6379> AUTH alice changeit"
    >>> [text[start:end] for start, end in command_spans(text)]
    ['changeit']
    """
    for hint in _HINTS:
        if hint in text:
            break
    else:
        return
    for form in _FORMS:
        for found in form.finditer(text):
            yield found.span(1)
