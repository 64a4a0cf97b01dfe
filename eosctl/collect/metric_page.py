"""Fetch the page that Prometheus scrapes."""

from __future__ import annotations

import http.client
import urllib.request
from typing import Final
from urllib.parse import urlsplit

from eosctl.collect.prometheus_text import Sample, parse_samples
from eosctl.errors import EosctlError, UsageError

MAX_BYTES: Final = 256 << 20


def check_page_address(url: str) -> None:
    """Refuse what is no address of a page, or carries a secret.

    Raises:
        UsageError: The address is not ``http://HOST:PORT/PATH``, or has a user name or password in it.
    """
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        named = "@" in parts.netloc
    except ValueError:
        known, named = False, "@" in url
    if named:
        raise UsageError(
            "The address of an endpoint has a user name or password in it.",
            "Other users of this machine can read the arguments of a program.",
            "Let the exporter listen where no password is needed, e.g. behind a tunnel.",
        )
    if not known:
        raise UsageError(f"{url!r} is no address of metrics.", "", "Write http://HOST:PORT/metrics.")


def fetch_samples(url: str, timeout_ms: int) -> tuple[Sample, ...]:
    """Fetch a page and parse it.

    Raises:
        EosctlError: The endpoint does not answer, or with something else.
    """
    try:
        with urllib.request.urlopen(url, timeout=timeout_ms / 1000) as answer:
            body = answer.read(MAX_BYTES)
    except (OSError, http.client.HTTPException) as error:
        reason = str(getattr(error, "reason", None) or error)
        raise EosctlError(f"{url} does not answer.", reason, "Check the address and the exporter.") from error
    try:
        return tuple(parse_samples(body.decode("utf-8", "replace")))
    except ValueError as error:
        raise EosctlError(
            f"{url} does not answer with metrics.", str(error), "Give the page that Prometheus scrapes."
        ) from error
