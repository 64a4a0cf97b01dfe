r"""Subscription patterns: Kafka's RE2 syntax, translated to Python's.

RE2 does not have look-around, backreferences, or other constructs with super-linear matching time. Patterns that RE2
rejects are rejected with RE2's messages. Constructs that only RE2 has (`\z`, `\Q...\E`, POSIX classes) are translated.
Unicode classes (`\pL`) are not supported and are rejected.
"""

from __future__ import annotations

import re

MAX_REPEAT = 1000
PERL_SYNTAX = "invalid or unsupported Perl syntax"
INVALID_ESCAPE = "invalid escape sequence"
NESTED_REPETITION = "invalid nested repetition operator"
INVALID_REPEAT = "invalid repeat count"
MISSING_BRACKET = "missing closing ]"

_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7F",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1F\x7F",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
#: A group starts with flags, a name, or nothing; everything else after `(?` is Perl syntax.
_GROUP = re.compile(r"\(\?(?:P?<[A-Za-z_]\w*>|[ims]*(?:-[ims]+)?[:)])")
_REPEAT = re.compile(r"\{(\d+)(?:,(\d*))?\}")
_PARSER_WORDING = {
    "missing )": "missing closing )",
    "unterminated character set": MISSING_BRACKET,
    "nothing to repeat": "missing argument to repetition operator",
    "multiple repeat": NESTED_REPETITION,
    "unbalanced parenthesis": "unexpected )",
    "bad character range": "invalid character class range",
    "bad escape": INVALID_ESCAPE,
    "min repeat greater than max repeat": INVALID_REPEAT,
}


class InvalidPattern(ValueError):  # noqa: N818 - it names what is wrong with the pattern
    """RE2 rejects the pattern; the message is RE2's."""


def compile_re2(pattern: str) -> re.Pattern[str]:
    """Compile a pattern in RE2 syntax.

    Raises:
        InvalidPattern: RE2 rejects it, or it contains Unicode classes.
    """
    try:
        return re.compile(translate(pattern), re.ASCII)
    except (re.error, OverflowError) as error:
        message = str(error)
        known = (words for prefix, words in _PARSER_WORDING.items() if message.startswith(prefix))
        raise InvalidPattern(next(known, message)) from None


def translate(pattern: str) -> str:
    """Translate a pattern to Python syntax.

    Raises:
        InvalidPattern: It contains constructs that RE2 does not have.
    """
    out: list[str] = []
    position, repeated = 0, False
    while position < len(pattern):
        rest = pattern[position:]
        is_repetition = False
        if rest[0] == "\\":
            text, size = _escape(rest)
        elif rest[0] == "[":
            text, size = _character_class(rest)
        elif rest.startswith("(?"):
            text, size = _group(rest)
        else:
            text, size, is_repetition = _plain(rest, repeated)
        out.append(text)
        position += size
        repeated = is_repetition
    return "".join(out)


def _plain(rest: str, repeated: bool) -> tuple[str, int, bool]:
    """Parse a character or a repetition; RE2 rejects a directly following repetition (possessive in Python)."""
    counted = _REPEAT.match(rest)
    if rest[0] not in "*+?" and counted is None:
        return r"\{" if rest[0] == "{" else rest[0], 1, False  # Braces without a count are literal.
    if repeated:
        raise InvalidPattern(NESTED_REPETITION)
    size = 1
    if counted is not None:
        size = counted.end()
        if any(int(bound) > MAX_REPEAT for bound in counted.groups() if bound):
            raise InvalidPattern(INVALID_REPEAT)
    if rest[size : size + 1] == "?":  # lazy repetition
        size += 1
    return rest[:size], size, True


def _escape(rest: str) -> tuple[str, int]:
    kind = rest[1:2]
    if kind == "Q":
        quoted, _, _ = rest[2:].partition("\\E")
        return re.escape(quoted), 2 + len(quoted) + (2 if "\\E" in rest[2:] else 0)
    if kind == "z":
        return r"\Z", 2
    if kind == "C":
        return "(?s:.)", 2
    if not kind or kind in "123456789ZpPEuUNk":
        raise InvalidPattern("trailing backslash at end of expression" if not kind else INVALID_ESCAPE)
    return rest[:2], 2


def _group(rest: str) -> tuple[str, int]:
    opening = _GROUP.match(rest)
    if opening is None:
        raise InvalidPattern(PERL_SYNTAX)
    text = opening.group()
    return (text.replace("(?<", "(?P<") if text.startswith("(?<") else text), len(text)


def _character_class(rest: str) -> tuple[str, int]:
    """Parse a character class; a leading `]` is a member."""
    out, position = ["["], 1
    if rest[position : position + 1] == "^":
        out.append("^")
        position += 1
    first = True
    while position < len(rest):
        character = rest[position]
        if character == "]" and not first:
            return "".join([*out, "]"]), position + 1
        first = False
        posix = re.match(r"\[:(\^?)(\w+):\]", rest[position:])
        if posix is not None:
            members = _POSIX.get(posix.group(2))
            if members is None or posix.group(1):
                raise InvalidPattern("invalid character class range")
            out.append(members)
            position += posix.end()
        elif character == "\\":
            text, size = _escape(rest[position:])
            out.append(text)
            position += size
        else:
            out.append("\\" + character if character in "[]&~|" else character)
            position += 1
    raise InvalidPattern(MISSING_BRACKET)
