"""Fetch tokens for SASL OAUTHBEARER, by OAuth 2 client credentials (KIP-768) or from a cloud, and keep them."""

from __future__ import annotations

import base64
import json
import re
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from http.client import HTTPException
from typing import Final

from eosctl.client.cloud_tokens import Token, fetch_cloud_token
from eosctl.errors import AuthenticationFailed
from eosctl.http_deadline import open_until
from eosctl.model.client_config import CloudLogin, TokenRequest
from eosctl.model.redaction import redact_address, redact_text
from eosctl.model.secret import Secret
from eosctl.waiting_threads import within

TIMEOUT_S: Final = 10
_SHORTEST_USE_S: Final = 30
"""A token that expires sooner is fetched anew."""
_LONGEST_USE_S: Final = 30 * 86_400
_LARGEST_REPLY: Final = 1 << 20

_TOKEN: Final = re.compile(r"[\x21-\x7e]+")
_kept: dict[TokenRequest | CloudLogin, Token] = {}
_lock = threading.Lock()


def fetch_token(source: TokenRequest | CloudLogin) -> Secret:
    """Return a valid token of a source; connections of one process share it until it expires. Blocks.

    Raises:
        AuthenticationFailed: The issuer refuses, does not answer, or answers without a token.
        UsageError: The extra of a cloud is not installed.
    """
    with _lock:
        kept = _kept.get(source)
        if kept is None or kept.expires_at < time.time() + _SHORTEST_USE_S:
            kept = _kept[source] = _fetched(source)
        return kept.text


def _fetched(source: TokenRequest | CloudLogin) -> Token:
    """Return a new token. The limit is for the whole reply: a host that sends a byte now and then meets any other."""
    where = source.url if isinstance(source, TokenRequest) else source.provider.value
    try:
        return within(TIMEOUT_S, lambda: _asked(source))
    except TimeoutError as error:
        raise _refused(where, f"It does not answer: {error}.") from error


def _asked(source: TokenRequest | CloudLogin) -> Token:
    return _of_issuer(source) if isinstance(source, TokenRequest) else fetch_cloud_token(source)


def _of_issuer(wanted: TokenRequest) -> Token:
    fields = {"grant_type": "client_credentials"} | ({"scope": wanted.scope} if wanted.scope else {})
    login = f"{wanted.client_id}:{wanted.client_secret.reveal()}".encode()
    request = urllib.request.Request(
        wanted.url,
        urllib.parse.urlencode(fields).encode(),
        {
            "Authorization": f"Basic {base64.b64encode(login).decode()}",
            "Accept": "application/json",
            "Content-Type": "application/x-www-form-urlencoded",
        },
    )
    try:
        with open_until(request, TIMEOUT_S) as reply:
            body = json.loads(reply.read(_LARGEST_REPLY))
    except urllib.error.HTTPError as error:
        raise _refused(wanted.url, f"It answered {error.code}: {_reason(error)}") from error
    except (OSError, HTTPException) as error:
        raise _refused(wanted.url, f"It cannot be reached: {getattr(error, 'reason', error)}.") from error
    except (ValueError, RecursionError) as error:
        raise _refused(wanted.url, "It did not answer with JSON.") from error
    text = body.get("access_token") if isinstance(body, dict) else None
    if not isinstance(text, str) or not _TOKEN.fullmatch(text):
        raise _refused(wanted.url, "Its answer has no access_token of printable ASCII.")
    return Token(Secret(text), time.time() + _lifetime_s(body.get("expires_in")))


def _lifetime_s(given: object) -> int:
    """Return the lifetime that an issuer gives, in bounds; 0, so that the token is used once, if it gives none."""
    return max(0, min(given, _LONGEST_USE_S)) if isinstance(given, int) else 0


def _reason(error: urllib.error.HTTPError) -> str:
    """Return the issuer's error code and description (RFC 6749, 5.2); never what was sent."""
    try:
        body = json.loads(error.read(_LARGEST_REPLY))
    except (ValueError, RecursionError):
        return f"{error.reason}."
    parts = (
        [str(body[name]) for name in ("error", "error_description") if name in body] if isinstance(body, dict) else []
    )
    return ": ".join(parts)[:200] or f"{error.reason}."


def _refused(url: str, why: str) -> AuthenticationFailed:
    return AuthenticationFailed(
        f"No token was issued by {redact_address(url)}.",
        redact_text(why),
        "Check the client id, its secret, the scope, and the address of the issuer.",
    )
