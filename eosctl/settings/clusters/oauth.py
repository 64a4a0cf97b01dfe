"""The token of SASL OAUTHBEARER: given, in a file, or from an issuer, as Kafka's own clients are configured for it."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote, urlsplit

from eosctl.errors import ConfigFileError
from eosctl.model.client_config import (
    CloudLogin,
    CloudProvider,
    Endpoint,
    Given,
    SaslConfig,
    SaslMechanism,
    TokenRequest,
)
from eosctl.model.secret import Secret
from eosctl.settings.values.jaas import parse_jaas
from eosctl.settings.values.lookup import Lookup
from eosctl.settings.values.references import resolve_references

AWS_MECHANISM: Final = "AWS_MSK_IAM"
"""The mechanism of Amazon's Java library; its brokers take OAUTHBEARER on the same port."""
_ENDPOINT: Final = "sasl.oauthbearer.token.endpoint.url"
_HANDLER: Final = "sasl.login.callback.handler.class"
_AWS_HOST: Final = re.compile(r"\.kafka(?:-serverless)?\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?$")
#: Hosts of brokers, and prefixes of the handlers that the clouds' Java libraries have.
_CLOUDS: Final = (
    (CloudProvider.AWS, _AWS_HOST, "software.amazon.msk.auth.iam."),
    (
        CloudProvider.AZURE,
        re.compile(r"\.servicebus\.(?:windows\.net|chinacloudapi\.cn|usgovcloudapi\.net)$"),
        "com.azure.",
    ),
    (CloudProvider.GOOGLE, re.compile(r"\.managedkafka\..*\.cloud\.goog$"), "com.google.cloud.hosted.kafka.auth."),
)


def parse_oauth(lookup: Lookup, bootstrap: Endpoint) -> SaslConfig:
    """Return the token or its source.

    In this order: `sasl.oauthbearer.token`, a `file:` or `http(s):` URL in Kafka's endpoint setting (KIP-768), and the
    login service of the cloud that the handler's class or the broker's host names.

    Raises:
        ConfigFileError: None of them is given, or the client's id or secret is missing.
    """
    mechanism = SaslMechanism.OAUTHBEARER
    token = lookup.secret("sasl.oauthbearer.token")
    if token is not None:
        return SaslConfig(mechanism, token=Secret(token.reveal().strip()))
    url = lookup.text(_ENDPOINT)
    scheme, path = ("", "") if url is None else _scheme_and_path(url)
    if url is not None and scheme == "file":
        reference = Given(f"${{file:{unquote(path)}}}", lookup.origin(_ENDPOINT))
        return SaslConfig(mechanism, token=Secret(resolve_references(reference, {}).strip()))
    if url is not None and scheme in ("http", "https"):
        return SaslConfig(mechanism, token_source=_parse_request(lookup, url))
    cloud = None if url is not None else _find_cloud(lookup, bootstrap.host)
    if cloud is not None:
        return SaslConfig(mechanism, token_source=cloud)
    raise ConfigFileError(
        "No token is given for OAUTHBEARER.",
        f"{lookup.origin(_ENDPOINT)}: the URL is not file:, http:, or https:." if url is not None else "",
        f"Set sasl.oauthbearer.token=${{file:PATH}}, {_ENDPOINT}=file:///PATH to a token that is still valid, or "
        f"{_ENDPOINT}=https://... with the client's id and secret.",
    )


def _scheme_and_path(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
    except ValueError:  # Such as a bracket that is not closed.
        return "", ""
    return parts.scheme, parts.path


def _parse_request(lookup: Lookup, url: str) -> TokenRequest:
    options = _options(lookup)
    client_id = lookup.text("sasl.oauthbearer.client.credentials.client.id") or options.get("clientId")
    secret = lookup.secret("sasl.oauthbearer.client.credentials.client.secret")
    if secret is None and "clientSecret" in options:
        secret = Secret(options["clientSecret"])
    if not client_id or secret is None:
        raise ConfigFileError(
            "The client's id or secret is missing for OAUTHBEARER.",
            f"The issuer at {_ENDPOINT} gives tokens to clients that log in.",
            "Set sasl.oauthbearer.client.credentials.client.id and .client.secret, or clientId and clientSecret in "
            "sasl.jaas.config.",
        )
    return TokenRequest(url, client_id, secret, lookup.text("sasl.oauthbearer.scope") or options.get("scope", ""))


def _find_cloud(lookup: Lookup, host: str) -> CloudLogin | None:
    handler = lookup.text(_HANDLER) or ""
    is_amazon = (lookup.text("sasl.mechanism") or "").upper() == AWS_MECHANISM
    for provider, hosts, prefix in _CLOUDS:
        if handler.startswith(prefix) or hosts.search(host) or (is_amazon and provider is CloudProvider.AWS):
            options = _options(lookup)
            found = _AWS_HOST.search(host)
            region = options.get("awsRegion") or (found[1] if found else lookup.variable("AWS_REGION"))
            if provider is CloudProvider.AWS and not region:
                raise ConfigFileError(
                    "The AWS region of the cluster is not known.",
                    f"{host} is not a name of Amazon MSK, and a token is for one region.",
                    "Set the variable AWS_REGION, e.g. to eu-central-1.",
                )
            return CloudLogin(
                provider,
                host,
                region,
                options.get("awsProfileName", ""),
                options.get("awsRoleArn", ""),
            )
    return None


def _options(lookup: Lookup) -> dict[str, str]:
    line = lookup.text("sasl.jaas.config")
    return {} if line is None else parse_jaas(line, lookup.origin("sasl.jaas.config")).options
