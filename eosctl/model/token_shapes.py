"""Find credentials that are recognized by their own shape, and those in the headers of HTTP requests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eosctl.model.random_words import random_spans

_BEARER: Final = re.compile(r"\b(bearer|basic)\\{0,2}\s{1,40}([^\s\"',;<>)\]}]{8,})", re.ASCII)
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
#: A part of each token, and all of it. All digits are alike here, and none is in a part: see `redaction.secret_spans`.
_SHAPES: Final = {
    "gh": r"gh[oprsu]_[A-Za-z0-9]{20,255}",
    "_pat_": r"github_pat_\w{22,255}",
    "_live_": r"[rs]k_live_[A-Za-z0-9]{16,255}",
    "npm_": r"npm_[A-Za-z0-9]{36}",
    "dckr_": r"dckr_[a-z]{2,8}_[\w-]{20,64}",
    "gl": r"gl(?:(?:pat|rt|dt|ptt|cbt|agent|ft|soat|ffct|imt)-[\w.-]{16,255}|sa_\w{24,64}|c_[\w+/=]{32,512})",
    "xox": r"xox[a-z]-[\w%-]{10,512}",
    "AVNS_": r"AVNS_[\w-]{16,64}",
    "GR": r"GR\d{7}[\w-]{20}",
    "pat": r"pat[A-Za-z0-9]{14}\.[a-f\d]{64}",
    "//": r"\d//\d[\w-]{20,512}",
    "NRAL": r"[a-f\d]{36}NRAL",
    "-us": r"[a-f\d]{32}-us\d{1,2}(?!\w)",
    "EAA": r"EAA[A-Z][A-Za-z\d]{56,512}",
    "EZ": r"EZ[AT]K[A-Za-z\d]{54}",
    "LTAI": r"LTAI[A-Za-z\d]{12,24}(?!\w)",
    "SK": r"SK[a-f\d]{32}(?!\w)",
    "SU": r"SU[A-Z\d]{56}(?!\w)",
    "ver:": r"ver:\d{1,4}-hint:\d{1,20}-[\w+/=-]{40,512}",
    "GenieKey ": r"GenieKey[ ][\w-]{20,64}",
    # The tail of a token of Discord's bots
    ".G": r"G(?<=\.G)[\w-]{5}\.(?=[\w-]{0,45}\d)[\w-]{27,45}(?![\w.-])",
    "sk-": r"sk-[\w-]{32,255}",
    "IA": r"A[KS]IA[A-Z0-9]{16}(?![A-Z0-9])",
    "AIza": r"AIza[\w-]{35}",
    "ya": r"ya\d\d\.[\w-]{20,1024}",
    "pypi-": r"pypi-[\w-]{24,512}",
    "SG.": r"SG\.[\w-]{16,64}\.[\w-]{16,128}",
    # Webhooks, whose address is the secret
    "hook": r"(?:web)?hook(?:s|b\d)?(?:\.[\w.-]{3,64})?/(?=[\w/@-]{0,255}\d)[\w/@-]{16,255}",
    "hc-ping.com/": r"hc-ping\.com/[\w/-]{20,128}",
    "receiver/": r"receiver/v\d/http/[\w=-]{40,128}",
    ".pagerduty.com/": r"events\.pagerduty\.com/integration/\w{12,64}",
    ":AA": r"(?:bot)?\d{6,12}:AA[\w-]{30,48}",
    # Further services
    "xapp-": r"xapp-\d-[\w-]{10,255}",
    "whsec_": r"whsec_[\w+/=]{16,255}",
    "GOCSPX-": r"GOCSPX-[\w-]{20,64}",
    "eyJrIjoi": r"eyJrIjoi[\w+/-]{24,512}={0,2}",
    "NRAK-": r"NRAK-\w{20,64}",
    "hv": r"hv[sbr]\.[\w-]{24,255}",
    "Q~": r"[\w.~-]{3}\dQ~[\w.~-]{31,40}",
    "AGE-SECRET-KEY-": r"AGE-SECRET-KEY-\d\w{40,80}",
    "dp.": r"dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{20,128}",
    "shp": r"shp(?:at|ca|pa|ss)_\w{24,64}",
    "pscale_": r"pscale_(?:pw|tkn|oauth)_[\w.=-]{24,128}",
    "dose": r"dose[a-f\d]{32}(?!\w)",
    "dapi": r"dapi[A-Za-z0-9]{32}(?:-\d)?(?![A-Za-z0-9])",
    "key-": r"key-[A-Za-z0-9]{32}(?![A-Za-z0-9])",
    "sq": r"sq\d(?:csp|atp)-[\w-]{20,64}",
    ".local.": r"v\d\.local\.[\w-]{20,2048}",
    ".atlasv": r"[A-Za-z0-9]{14}\.atlasv\d\.[\w-]{60,128}",
    "pul-": r"pul-\w{32,64}",
    "sntry": r"sntry[su]_[\w+/=-]{24,512}",
    "AKCp": r"AKCp\w{60,128}",
    "cmVmdGtu": r"cmVmdGtu[\w+/=]{40,128}",
    "AT": r"AT(?:[AC]TT\dx[\w=-]{40,512}|BB[A-Za-z0-9]{28,64})",
    "cflt": r"cflt[\w+/]{56,128}",
    "{AQAAAB": r"\{AQAAAB[\w+/=]{20,}\}",
    "CLIENT_": r"CLIENT_(?:RANDOM|(?:HANDSHAKE_)?TRAFFIC_SECRET(?:_\d)?)[ ][\da-fA-F]{8,64}[ ]\w{14,128}",
    # Keys and key stores in Base64: PEM, JKS, DER
    "CRUdJTi": r"LS\dtLS\dCRUdJTi[\w+/=]{16,}",
    "BQIAAA": r"BQIAAA[\w+/]{40,}={0,2}",
    "/u": r"/u\d\+\dQ[\w+/=]{12,}",
    "MII": r"MII[A-Za-z][A-Za-z0-9+/]{60,}={0,2}",
    # What programs store instead of a password
    "$": r"\$(?:\d[abxy]?|g?y|md\d|apr\d|sha\d|argon\d(?:i|d|id)|s?crypt|bcrypt(?:-sha\d{3})?|pbkdf\d[\w-]{0,16}|[PHS])"
    r"\$(?:[\w=,./+-]{1,64}\$){0,4}[\w./+=-]{12,128}",
    "SCRAM-SHA-": r"SCRAM-SHA-\d{1,3}\$\d{1,9}:[\w+/=]{8,128}\$[\w+/=]{20,128}:[\w+/=]{20,128}",
    "*": r"\*[\dA-F]{40}(?!\w)",
    "pbkdf": r"pbkdf\d(?:_\w{1,16})?[$:]\d{1,9}[$:][\w+/=-]{1,64}[$:][\w+/=-]{12,128}",
    "{S": r"\{(?:S?SHA(?:\d{3})?|SMD\d)\}[\w+/=]{12,256}",
    "{CRYPT}": r"\{CRYPT\}[\w+/=$.]{12,256}",
}
_PATTERNS: Final = tuple((part, re.compile(shape, re.ASCII)) for part, shape in _SHAPES.items())
_PART_OF_WORD: Final = re.compile(r"[\w-]", re.ASCII)
_PART_OF_NAME: Final = re.compile(r"[\w.$-]", re.ASCII)
# Vault's tokens before its release 1.10
_VAULT: Final = re.compile(r"s\.(?=[A-Za-z]{0,24}\d)[A-Za-z\d]{24}(?![\w.])", re.ASCII)
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
    yield from _of_services(text)
    yield from random_spans(text)


def _of_services(text: str) -> Iterator[tuple[int, int]]:
    if "s." in text:
        for found in _VAULT.finditer(text):
            if not found.start() or not _PART_OF_NAME.match(text, found.start() - 1):
                yield found.span()
    for part, shape in _PATTERNS:
        if part in text:
            for found in shape.finditer(text):
                if not found.start() or not _PART_OF_WORD.match(text, found.start() - 1):
                    yield found.span()


def _header_end(text: str, head: re.Match[str]) -> int:
    """Return where the value of a header ends: the values of some schemes hold quotes, those of cookies blanks."""
    if head["digest"]:
        found = _TO_LINE_END.match(text, head.end())
    else:
        found = _TO_QUOTE.match(text, head.end())
    end = head.end() if found is None else found.end()
    logger = _LOGGER.search(text, max(head.end(), end - 203), end)
    return head.end() + len(text[head.end() : end if logger is None else logger.start()].rstrip())
