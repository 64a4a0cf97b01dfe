"""Subscription patterns: what RE2 takes, which Kafka uses, said in Python's terms.

RE2 has no look-around, no backreferences and nothing else that could make matching slow; Python has. What RE2 refuses
is refused here with RE2's words, and what only RE2 has (``\\z``, ``\\Q...\\E``, POSIX classes) is translated. Unicode
classes (``\\pL``) are not known here and are refused.
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
#: A group opens with flags, a name or nothing; all else behind `(?` is Perl's.
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
    """A pattern that RE2 does not take; the text is the reason in RE2's words."""


def compile_re2(pattern: str) -> re.Pattern[str]:
    """Compile a pattern of RE2's syntax.

    Raises:
        InvalidPattern: RE2 refuses it, or it needs Unicode classes.
    """
    try:
        return re.compile(translate(pattern), re.ASCII)
    except (re.error, OverflowError) as error:
        message = str(error)
        known = (words for prefix, words in _PARSER_WORDING.items() if message.startswith(prefix))
        raise InvalidPattern(next(known, message)) from None


def translate(pattern: str) -> str:
    """Say a pattern in Python's syntax.

    Raises:
        InvalidPattern: It uses what RE2 does not have.
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
    """Take one character or one repetition; a second repetition at once is none of RE2's (Python: possessive)."""
    counted = _REPEAT.match(rest)
    if rest[0] not in "*+?" and counted is None:
        return r"\{" if rest[0] == "{" else rest[0], 1, False  # what counts nothing is itself
    if repeated:
        raise InvalidPattern(NESTED_REPETITION)
    size = 1
    if counted is not None:
        size = counted.end()
        if any(int(bound) > MAX_REPEAT for bound in counted.groups() if bound):
            raise InvalidPattern(INVALID_REPEAT)
    if rest[size : size + 1] == "?":  # lazy
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
    """Take a whole class; a bracket that comes first in it is a member."""
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
