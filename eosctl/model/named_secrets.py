"""Find the values of passwords, tokens, and keys by the name that stands before them.

The name decides that a value is secret, its surroundings decide where it ends. Where the end is ambiguous, more is
masked rather than less. Each character is read a bounded number of times: the time is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from eosctl.model.api_names import is_request
from eosctl.model.localized_names import ASCII_HINTS, LOCALIZED
from eosctl.model.secret import MASK

# Every alternative of _NAME holds one of these, so most texts are passed over without a regular expression.
_HINTS: Final = (
    "pass", "pw", "assertion", "secret", "token", "credential", "key", "jaas", "user", "salt", "hmac", "pem", "sig=",
    "sig:", "sig ", 'sig"', "sig'", "signature", "identified", "license", "psw", *ASCII_HINTS,
)  # fmt: skip
_KEYS: Final = (
    "api", "private", "access", "account", "encryption", "signing", "master", "subscription", "storage",
    "keystore", "stored", "server", "license", "client", "shared", "auth",
)  # fmt: skip
# Each alternative starts with a letter, and looks behind at its end: so the search skips all that starts none.
_NAMES: Final = (
    "passw(?:or)?[dt]", "pass[ ._-]?(?:word|phrase|code|key)", "passwrd",
    "pswd?(?![a-z])(?<![a-z]psw)(?<![a-z]pswd)", "pass(?![a-z])(?<!bypass)(?<!compass)", "pwd",
    "client[._-]?assertion", "pw(?![a-z])(?<![a-z0-9]pw)", "secret", "token", "credential",
    "sig(?<![a-z0-9]sig)(?:nature)?(?![a-z])",
    *(f"{key}[ ._-]?key" for key in _KEYS), "key[._-]?pem", "jaas[._-]?config", "auth[._-]?user[._-]?info",
    r"salt\b(?<!\wsalt)",
    "confluent[._-]license(?![._-])", *LOCALIZED,
    "hmac(?!-?sha|-?md)(?<![a-z0-9]hmac)", r"identified[ ](?:with[ ][\w'\"]{1,40}[ ](?:by|as)|by)\b",
)  # fmt: skip
_NAME: Final = rf"(?:{'|'.join(_NAMES)})[\w.-]{{0,64}}"
_SIGN: Final = r"[ \t]{0,40}(?:=>|:=|-{1,2}>|→|[?+|]?={1,3}|＝|：|:(?!:)|::(?=[ ]))[ \t]{0,40}"
# {"name": "password", "type": "x", "configValue": "y"}: a key, a field of a simple value, and the key of the value
_KEY: Final = r"\\*[\"'][\w.-]{1,64}\\*[\"'][ \t]{0,4}:"
_FIELD: Final = (
    r"\\*[\"']?\w{1,40}\\*[\"']?[ ]{0,4}[:=][ ]{0,4}"
    r"(?:\\*\"[^\"\n]{0,200}+\"|'[^'\n]{0,200}+'|[\w.: -]{0,80})[ \t]{0,40}"
)
_VALUE: Final = r"\\*[\"']?(?:config|property|setting|param|string)?[_-]?val(?:ue)?\b\\*[\"']?"
_LOCALIZED: Final = re.compile("|".join(LOCALIZED), re.ASCII)
_HEAD: Final = re.compile(
    rf"(?P<name>{_NAME})(?:"
    # name=value, name: value, "name": "value", name => value, name['x'] = value, name for user bob: value, name[0]=x
    r"(?:(?:[ ]for[ ](?:user[ ]|role[ ])?[^\s:=]{1,64}|[ ](?:is|was)|\[\w{1,20}\])?"
    rf"\\*[\"'\])]{{0,2}}(?P<sign>{_SIGN}))"
    # | name | value |, name|value
    r"|\\*[\"'`]?(?P<bar>[ \t]{0,40}[|│┃](?![|=])[ \t]{0,40})"
    # put("name", "value"), ('name', 'value')
    rf"|\\*[\"'][ \t]{{0,40}},[ \t]{{0,40}}(?=\\*[\"'])(?!{_KEY})"
    # ConfigEntry(name=ssl.key.password, value=x), {"name": "ssl.key.password", "value": "x"}, also in two lines of YAML
    rf"|\\*[\"']?(?:,\s{{0,40}}(?!{_VALUE}){_FIELD}){{0,6}}[ \t]{{0,40}},?\s{{0,40}}{_VALUE}{_SIGN}"
    # <password>x</password>, <a:Password type="y">x</a:Password>, <name>ssl.key.password</name><value>x</value>,
    # <property name="password">x</property>
    r"|(?P<tag></\w{1,40}>\s{0,40}<\w{1,40}>|(?:\\*[\"'])?(?:[ ][\w:.-]{1,40}=\\*[\"'][^<>\n]{0,120})?>)"
    # password (x), Password[x], setPassword("x"), passwords {a=x}
    r"|(?P<open>[ ]?(?:[(](?:value=)?|\[|<|\{))(?=[^\s)\]>}])"
    # --password x, identified with password 'x', password is 'x'
    r"|(?P<blank>[ \t]{1,40}(?:for[ ](?:user[ ]|role[ ])?[^\s]{1,64}[ ])?"
    r"(?:(?:is|was|(?:has[ ]been[ ]|is[ ]|was[ ])?(?:set|reset|changed)[ ]to)[ \t]{1,40})?)(?=[^\s-]))",
    re.ASCII,
)
# {"value": "x", "name": "password"}
_VALUE_FIRST: Final = re.compile(
    rf"{_VALUE}{_SIGN}"
    r"(?P<value>\\*\"[^\"\n]{0,1024}+\"|'[^'\n]{0,1024}+'|[^\s,;\"'}]{1,256}+)"
    r"(?:[ ]{0,4},\s{0,40}|\r?\n[ \t]{0,40}|[ \t]{1,4})"
    rf"(?:{_FIELD},\s{{0,40}}){{0,6}}\\*[\"']?(?:\w{{0,20}}name|\w{{0,20}}key|property|setting)\\*[\"']?{_SIGN}\\*[\"']?[\w.-]{{0,64}}?{_NAME}",
    re.ASCII,
)
_CLOSING: Final = {"(": ")", "[": "]", "<": ">", "{": "}"}
_SOURCE_LINE: Final = re.compile(r"[\w$.-]{1,80}\.(?:java|scala|kt|py|go|cs?|rb|js):\d|(?:native|unknown)\b", re.ASCII)
_QUOTED_WITHOUT_SIGN: Final = ("pass", "pwd", "secret", "identified")
# alter user bob identified by x
_SQL_USER: Final = re.compile(r"\b(?:user|role)[ ][^ ]{1,40}[ ]\Z", re.ASCII)
# with user bob and password x
_IN_SENTENCE: Final = (
    "password", "passwd", "pwd", "pass", "passphrase", "passcode", "secret", "token", "apikey", "api key", "api-key",
)  # fmt: skip
_LEADS: Final = re.compile(r"\b(?:and|with|using)[ \t]\Z", re.ASCII)
_FOLLOWS: Final = re.compile(
    r"(?:a|an|and|are|at|auth|authentication|based|because|before|by|can|cannot|combination|could|did|do|does|expired|"
    r"expiry|failed|failure|file|for|from|has|have|id|in|into|invalid|is|length|login|may|must|not|of|on|or|policy|"
    r"provided|provider|that|the|to|was|were|will|with|wrong)\b",
    re.ASCII,
)
# A word with letters and digits, or with signs between letters: password x9-Trea$ure failed; no address or number.
_LOOKS_SECRET: Final = re.compile(
    r"(?=[^\s\"'(){}\[\]<>,;]{6})(?=\S{0,256}[\d$!%^&*+])(?=\S{0,256}[A-Za-z])"
    r"(?!\w+=|[\w-]+(?:\.[\w-]+)*[.:]\d+(?![^\s)\]}>,;:\"']))",
    re.ASCII,
)
_LOOKS_RANDOM: Final = re.compile(r"(?=[\w+/=-]{12})(?=[\w+/=-]*\d)(?=[\w+/=-]*[a-z])[\w+/=-]*[A-Z]", re.ASCII)
_OPTION: Final = re.compile(r"(?:^|\s)--?[\w-]{0,40}\Z", re.ASCII)
_ELEMENT: Final = re.compile(r"<[\w.:-]{0,40}\Z", re.ASCII)
_ATTRIBUTE: Final = re.compile(r"<[\w.:-]{1,40}[ ][^<>]{0,80}=\\*[\"'][\w.-]{0,40}\Z", re.ASCII)
_BEFORE: Final = 160
# Classes and source files are named after secrets, too: TokenExpiredException: ..., SecretStore.java:10.
_NEVER_A_NAME: Final = ("Exception", "Error", ".java", ".scala", ".kt", ".py")
# [Producer clientId=a] password = two words; export PASSWORD=two words
_LINE_START: Final = re.compile(
    r"(?:\[[^\]\n]{0,150}\][ \t]){0,2}(?:[\s#!>|*-]|export\s|set\s|env\s){0,20}(?P<key>[\w.\[\]-]{0,80})\Z", re.ASCII
)
_LONGEST_START: Final = 250

# password: !!str x, password: &anchor x
_YAML_TAG: Final = re.compile(r"(?:[!&][^\s\"',;]{0,80}[ \t]{1,40}){1,2}", re.ASCII)
_YAML_BLOCK: Final = re.compile(r"[|>][+\d-]{0,2}[ \t]{0,40}\r?\n(?P<indent>[ \t]{1,80})[^\n]*", re.ASCII)
# password = two words, user = x
_TO_NEXT: Final = re.compile(r"(?:[^\r\n,;]|[,;](?![ \t]{0,4}[\w.-]{1,64}[ \t]{0,4}[=:]))*", re.ASCII)
_LOGGER: Final = re.compile(r"[ \t]\([\w.$]{1,200}\)\Z", re.ASCII)
# Server=db;Password=two words;Encrypt=true
_IN_CONNECTION_STRING: Final = re.compile(r";[ ]?[\w ]{0,40}\Z", re.ASCII)
_TO_SEMICOLON: Final = re.compile(r"[^;\r\n\"']*")
_NULL: Final = re.compile(r"""null(?![^\s,;&)\]}"'])""", re.ASCII)
_TO_LINE_END: Final = re.compile(r"(?:[^\r\n\\]|\\(?:\r\n|[\s\S]))*")
_OPENER: Final = re.compile(r"[bBuUrR]{0,2}(?P<escape>\\*)(?P<quote>[\"'])")
_UNTIL_TAG: Final = re.compile(r"(?:\s{1,80}(?=[^\s<]{1,1024}\s{0,80}(?:</|\Z)))?[^<\r\n]*")
_CDATA: Final = re.compile(r"\s{0,80}<!\[CDATA\[")
_LONGEST_IN_BRACKETS: Final = 256
# password:\n  - x, password:\n    x; not the frames of a stack trace.
_YAML_BELOW: Final = re.compile(r"\r?\n(?P<value>[ ]{1,80}(?!at |\.{3})(?:- )?[^\r\n]*)", re.ASCII)
_LINE_KEY: Final = re.compile(r"[\w.-]{1,128}[\"']?:[ \t]{0,40}\Z", re.ASCII)
# A quote, comma, or bracket ends a bare value only where something follows that cannot belong to it.
_BARE: Final = re.compile(
    r"""(?:[^\s"',;&)\]}]"""
    r"""|["'](?![\s,;&)\]}]|[.:](?:\s|\Z)|\Z)"""
    r"""|[,;&](?!\s|\Z|[\w.-]{1,64}[ \t]?[=:])"""
    r"""|[)\]}](?![\s,;&)\]}"']|[.:](?:\s|\Z)|\Z))+""",
    re.ASCII,
)
_QUOTE_RUNS: Final = {quote: re.compile(rf"\\*{quote}|\n") for quote in "\"'"}
_NESTED: Final = re.compile(r"""[\[{]\s*\\*["']|\[(?!hidden\])""")
_OPENS_LINES: Final = re.compile(r"[\[{][ \t]{0,40}\r?\n")
_LONGEST_LIST: Final = 4096
_BRACKETS: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|[\[\]{}]|\n')


# | password | two words |; without a bar behind it, one word.
_CELL: Final = re.compile(r"(?:[^|│┃\r\n\\]|\\.)*(?=[|│┃](?!\|))|[^\s|│┃]+(?=[ \t]{0,40}(?:[\r\n]|\Z))")


class _Value(NamedTuple):
    """Where a value starts and ends; `is_bare` if only a blank or a separator ends it."""

    start: int
    end: int
    is_bare: bool = False


# Settings about secrets that are none: delegation.token.max.lifetime.ms, sasl.oauthbearer.token.endpoint.url.
_HARMLESS: Final = (
    "ms", "seconds", "url", "uri", "urls", "iterations", "algorithm", "length", "type", "class", "location", "path",
    "file", "enable", "enabled", "count", "source", "audience", "issuer", "claim", "name", "size", "store", "provider",
    "mode", "policy", "ttl", "lifetime", "version", "ref", "endpoint", "range",
)  # fmt: skip
_HARMLESS_NAME: Final = re.compile(
    rf"[._-](?i:{'|'.join(_HARMLESS)})\Z|(?:{'|'.join(map(str.capitalize, _HARMLESS))})\Z", re.ASCII
)
_SECRET_NAME: Final = re.compile(rf"{_NAME}|jaas|\.pem\Z|basic[._-]auth", re.ASCII)


def is_secret_name(name: str) -> bool:
    """Return whether the value of a setting of this name is a password, a token, or a key.

    >>> is_secret_name("ssl.key.password"), is_secret_name("delegation.token.max.lifetime.ms")
    (True, False)
    """
    lower = name.lower()
    return _SECRET_NAME.search(lower) is not None and _HARMLESS_NAME.search(lower) is None


def holds_name(lower: str) -> bool:
    """Return whether a text in lower case may hold the name of a secret."""
    for hint in _HINTS:
        if hint in lower:
            return True
    return not lower.isascii() and _LOCALIZED.search(lower) is not None


def named_spans(text: str, lower: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each value that the name of a secret stands before, or right behind.

    Args:
        text: What to search.
        lower: The same in lower case, of the same length.
    """
    if "val" in lower:
        for found in _VALUE_FIRST.finditer(lower):
            yield found.span("value")
    position = masked_to = 0
    while (head := _HEAD.search(lower, position)) is not None:
        position = head.end()
        if not _is_name(text, lower, head):
            continue
        value = _value(text, head, masked_to)
        # A bare value may hold a name whose own value goes further: token: password="two words".
        if value.is_bare and position < masked_to:
            continue
        if value.start < value.end:
            yield value.start, value.end
            masked_to = max(masked_to, value.end)
            if not value.is_bare:
                position = value.end


def _is_name(text: str, lower: str, head: re.Match[str]) -> bool:
    start, end = head.span("name")
    if text.endswith(_NEVER_A_NAME, start, end) or _HARMLESS_NAME.search(text[start:end]) is not None:
        return False
    if "api" in head["name"] and is_request(text, head.end()):
        return False
    before = lower[max(start - _BEFORE, 0) : start]
    if head["tag"] and head["tag"][0] != "<":
        return (_ELEMENT if head["tag"][0] in " >" else _ATTRIBUTE).search(before) is not None
    if head["open"]:
        return _is_in_brackets(text, lower, head)
    if head["blank"] is None:
        return True
    if not head["blank"].strip() and _OPTION.search(before) is not None:
        return True
    if head["name"].startswith("identified") and _SQL_USER.search(before) is not None:
        return True
    if head["name"].startswith(_QUOTED_WITHOUT_SIGN) and _OPENER.match(text, head.end()) is not None:
        return True
    if head["name"] in _IN_SENTENCE and _looks_secret(text, head):
        return True
    is_led = head["name"] in _IN_SENTENCE and _LEADS.search(before) is not None
    return is_led and _FOLLOWS.match(lower, head.end()) is None


def _is_in_brackets(text: str, lower: str, head: re.Match[str]) -> bool:
    """Return whether what stands in brackets behind a name is a secret: `Password(x)`, not `load(Secret.java:10)`."""
    start = head.end()
    if _OPTION.search(lower[max(head.start("name") - _BEFORE, 0) : head.start("name")]) is not None:
        return head["open"][0] == " "
    if head["open"].strip() == "{":
        return head["name"].endswith("s")
    if _SOURCE_LINE.match(lower, start) is not None:
        return False
    return _OPENER.match(text, start) is not None or _looks_secret(text, head)


def _looks_secret(text: str, head: re.Match[str]) -> bool:
    """Return whether the word behind a name is none of a sentence: secrets and tokens have names that are words."""
    shape = _LOOKS_SECRET if head["name"].startswith(("pass", "pwd")) else _LOOKS_RANDOM
    return shape.match(text, head.end()) is not None


def _value(text: str, head: re.Match[str], masked_to: int) -> _Value:
    start = head.end()
    if head["sign"] and (tag := _YAML_TAG.match(text, start)):
        start = tag.end()
    if text.startswith(MASK, start) or _NULL.match(text, start):
        return _Value(start, start)
    if head["sign"] and (block := _YAML_BLOCK.match(text, start)):
        return _Value(start, _block_end(text, block))
    if head["tag"]:
        return _Value(start, _element_end(text, start))
    if head["bar"]:
        cell = _CELL.match(text, start)
        return _Value(start, start if cell is None else start + len(cell[0].rstrip()))
    if head["open"] and not _OPENER.match(text, start):
        return _Value(start, _bracket_end(text, start, _CLOSING[head["open"].strip()[0]]))
    if head["sign"] and (below := _YAML_BELOW.match(text, start)) and _LINE_KEY.search(text, head.start(), start):
        return _Value(below.start("value"), below.end())
    to_line_end = _is_setting(text, head)
    opener = _OPENER.match(text, start)
    if opener is not None and not (to_line_end and "=" in head["sign"]):
        return _quoted(text, opener)
    if to_line_end or "jaas" in head["name"]:
        return _Value(start, _line_end(text, start))
    if _NESTED.match(text, start):
        return _Value(start, _closing_bracket(text, start))
    if start < masked_to:  # Within a bare value, which ends where this one does.
        continues = text[masked_to - 1] == "\\" and text.startswith(("\n", "\r\n"), masked_to)
        return _Value(start, _line_end(text, start)) if continues else _Value(start, start, is_bare=True)
    return _in_message(text, head, start)


def _in_message(text: str, head: re.Match[str], start: int) -> _Value:
    """Return a value without quotes that stands among other words."""
    if head["sign"] == " = ":
        return _Value(start, _before_next(text, start))
    name = head.start("name")
    if head["sign"] == "=" and _IN_CONNECTION_STRING.search(text, max(name - _BEFORE, 0), name):
        found = _TO_SEMICOLON.match(text, start)
        return _Value(start, start if found is None else found.end(), is_bare=True)
    bare = _BARE.match(text, start)
    if bare is None:
        return _Value(start, start)
    end = bare.end()
    if text[end - 1] == "\\" and text.startswith(("\n", "\r\n"), end):
        return _Value(start, _line_end(text, start))
    if text[end : end + 1] in ('"', "'"):  # the backslashes belong to the quote that follows
        end = start + len(text[start:end].rstrip("\\"))
    return _Value(start, end, is_bare=True)


def _is_setting(text: str, head: re.Match[str]) -> bool:
    """Return whether a line is `name=value` or `name: value` and nothing else, so that the value may hold blanks."""
    if not head["sign"]:
        return False
    name = head.start("name")
    line = text.rfind("\n", max(name - _LONGEST_START, 0), name) + 1
    if not line and name > _LONGEST_START:
        return False
    found = _LINE_START.match(text[line:name])
    if found is None or head["sign"].strip() not in ("=", ":", "＝", "："):
        return False
    key = found["key"] + text[name]
    return head["sign"].strip() in ("=", "＝") or not key[0].isupper()


def _line_end(text: str, start: int) -> int:
    found = _TO_LINE_END.match(text, start)
    return start if found is None else start + len(found[0].rstrip())


def _before_next(text: str, start: int) -> int:
    """Return where a value that may hold blanks ends within a message: before another setting or the logger's name."""
    found = _TO_NEXT.match(text, start)
    end = start if found is None else found.end()
    if text[end - 1 : end] == "\\":
        return _line_end(text, start)
    logger = _LOGGER.search(text, max(start, end - 203), end)
    return start + len(text[start : end if logger is None else logger.start()].rstrip())


def _block_end(text: str, block: re.Match[str]) -> int:
    """Return the end of the lines that are indented at least like the first one of a YAML block."""
    end = block.end()
    while text.startswith(block["indent"], end + 1) and text.startswith("\n", end):
        newline = text.find("\n", end + 1)
        end = len(text) if newline < 0 else newline
    return end


def _bracket_end(text: str, start: int, closing: str) -> int:
    end = text.find(closing, start, start + _LONGEST_IN_BRACKETS)
    if end < 0 or text[end + 1 : end + 2].isalnum():
        return _line_end(text, start)
    return end


def _element_end(text: str, start: int) -> int:
    """Return where the text of an XML element ends; a CDATA section belongs to it."""
    if section := _CDATA.match(text, start):
        end = text.find("]]>", section.end())
        return len(text) if end < 0 else end + 3
    found = _UNTIL_TAG.match(text, start)
    return start if found is None else found.end()


def _quoted(text: str, opener: re.Match[str]) -> _Value:
    """Return what stands between an opening quote and its closing one, or the end of the line.

    A quote that is escaped `n` times has `2**n - 1` backslashes before it; one inside the value has more.
    """
    start, depth = opener.end(), len(opener["escape"])
    if text.startswith(MASK, start):
        return _Value(start, start)
    doubled_at = -1
    for found in _QUOTE_RUNS[opener["quote"]].finditer(text, start):
        if found[0] == "\n":
            break
        backslashes = len(found[0]) - 1
        after = text[found.end() : found.end() + 1]
        if found.start() == doubled_at:
            continue
        if after == opener["quote"] and found.start() > start:  # SQL doubles a quote inside a value
            doubled_at = found.end()
            continue
        if backslashes < depth:
            return _Value(start, found.start())
        if backslashes % (2 * (depth + 1)) == depth and not (after.isalnum() or after == "_"):
            return _Value(start, found.end() - 1 - depth)
    return _Value(start, _line_end(text, start))


def _closing_bracket(text: str, start: int) -> int:
    """Return where the bracket that opens a value is closed; the end of the line if it is not."""
    depth = 0
    has_lines = _OPENS_LINES.match(text, start) is not None
    for found in _BRACKETS.finditer(text, start, start + _LONGEST_LIST if has_lines else len(text)):
        if found[0] == "\n" and not has_lines:
            break
        depth += (found[0] in "[{") - (found[0] in "]}")
        if not depth and found.end() > start + 1:
            return found.end()
    return min(start + _LONGEST_LIST, len(text)) if has_lines else _line_end(text, start)
