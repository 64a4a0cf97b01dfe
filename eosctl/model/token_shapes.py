"""Find credentials that are recognized by their own shape, and those in the headers of HTTP requests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_BEARER: Final = re.compile(r"\b(bearer|basic)\s{1,40}([^\s\"',;<>)\]}]{8,})", re.ASCII)
_JSON_WEB_TOKEN: Final = re.compile(r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]+\.?[\w-]*", re.ASCII)
# Authorization: Digest username="me", response="x"; a scheme that `_BEARER` knows is left to it.
_HEADER: Final = re.compile(
    r"\b(?:(?P<cookie>(?:set-)?cookie)|(?:proxy-)?authorization)\\*[\"']?[ \t]{0,40}(?::|={1,2}|=>)(?![:=])[ \t]{0,40}+"
    r"(?:\\*+[\"'])?+(?!\[hidden\]|bearer |basic |none\b|null\b|simple\b)(?P<digest>digest |negotiate |aws)?",
    re.ASCII,
)
_TO_LINE_END: Final = re.compile(r"[^\r\n]*")
_TO_QUOTE: Final = re.compile(r"[^\r\n\"'\\]*")
_LOGGER: Final = re.compile(r"[ \t]\([\w.$]{1,200}\)\Z", re.ASCII)
#: What a token starts with, and all of it. All digits are alike here: see `redaction.secret_spans`.
_PREFIXES: Final = {
    "gh": r"gh[oprsu]_[A-Za-z0-9]{20,255}",
    "github_pat_": r"github_pat_\w{22,255}",
    "glpat-": r"glpat-[\w.-]{20,255}",
    "xox": r"xox[abeoprs]-[\w-]{10,255}",
    "_live_": r"[rs]k_live_[A-Za-z0-9]{16,255}",
    "sk-": r"sk-[\w-]{32,255}",
    "AKIA": r"AKIA[A-Z0-9]{16}(?![A-Z0-9])",
    "ASIA": r"ASIA[A-Z0-9]{16}(?![A-Z0-9])",
    "AIza": r"AIza[\w-]{35}",
    "ya": r"ya\d\d\.[\w-]{20,1024}",
    "npm_": r"npm_[A-Za-z0-9]{36}",
    "pypi-": r"pypi-[\w-]{32,512}",
    "hvs.": r"hvs\.[\w-]{24,255}",
    "SG.": r"SG\.[\w-]{16,64}\.[\w-]{16,128}",
    "hooks.slack.com/": r"hooks\.slack\.com/services/[\w/]{20,255}",
    "dckr_pat_": r"dckr_pat_[\w-]{20,64}",
}
_TOKEN: Final = re.compile(rf"(?<![\w-])(?:{'|'.join(_PREFIXES.values())})", re.ASCII)
_FIRST_PARTS: Final = tuple(_PREFIXES)
# The HMAC of a delegation token as Kafka's tool lists it: 64 bytes; a digest has its algorithm before it.
_HMAC: Final = re.compile(r"(?<![\w+-])[\w+/]{86}==(?![\w=])", re.ASCII)


def token_spans(text: str, lower: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each token of a known shape, and of each value of a header that authenticates.

    Args:
        text: What to search.
        lower: The same in lower case, of the same length.
    """
    if "bearer" in lower or "basic" in lower:
        for found in _BEARER.finditer(lower):
            if text[found.start(2) : found.end(2)].islower() and found[1] == "basic" and found[2].isalpha():
                continue  # basic authentication
            yield found.span(2)
    if "authorization" in lower or "cookie" in lower:
        end = 0
        while (head := _HEADER.search(lower, end)) is not None:
            end = _header_end(text, head)
            yield head.end() - len(head["digest"] or ""), end
    if "eyJ" in text:
        for found in _JSON_WEB_TOKEN.finditer(text):
            yield found.span()
    if "==" in text:
        yield from (found.span() for found in _HMAC.finditer(text))
    for part in _FIRST_PARTS:
        if part in text:
            yield from (found.span() for found in _TOKEN.finditer(text))
            return


def _header_end(text: str, head: re.Match[str]) -> int:
    """Return where the value of a header ends: the values of some schemes hold quotes, those of cookies blanks."""
    if head["digest"]:
        found = _TO_LINE_END.match(text, head.end())
    else:
        found = _TO_QUOTE.match(text, head.end())
    end = head.end() if found is None else found.end()
    logger = _LOGGER.search(text, max(head.end(), end - 203), end)
    return head.end() + len(text[head.end() : end if logger is None else logger.start()].rstrip())
