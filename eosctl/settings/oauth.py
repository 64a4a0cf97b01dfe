"""The token of SASL OAUTHBEARER: given, or read from the file that Kafka's own clients would read."""

from __future__ import annotations

from typing import Final
from urllib.parse import unquote, urlsplit

from eosctl.errors import ConfigFileError
from eosctl.model.client_config import Given
from eosctl.model.secret import Secret
from eosctl.settings.lookup import Lookup
from eosctl.settings.references import resolve_references

_ENDPOINT: Final = "sasl.oauthbearer.token.endpoint.url"


def parse_oauth(lookup: Lookup) -> Secret:
    """Return the token from ``sasl.oauthbearer.token`` or from a ``file:`` URL in Kafka's endpoint setting (KIP-768).

    Raises:
        ConfigFileError: There is neither; eosctl asks no authorisation server.
    """
    token = lookup.secret("sasl.oauthbearer.token")
    if token is not None:
        return Secret(token.reveal().strip())
    url = lookup.text(_ENDPOINT)
    if url is not None and urlsplit(url).scheme == "file":
        reference = Given(f"${{file:{unquote(urlsplit(url).path)}}}", lookup.origin(_ENDPOINT))
        return Secret(resolve_references(reference, {}).strip())
    raise ConfigFileError(
        "No token is given for OAUTHBEARER.",
        "eosctl does not fetch tokens from an authorisation server." if url else "",
        f"Set sasl.oauthbearer.token=${{file:PATH}} or {_ENDPOINT}=file:///PATH to a token that is still valid.",
    )
