"""Fetch tokens from the login services that three clouds have for Kafka, through their own packages (extras)."""

from __future__ import annotations

import base64
import importlib
import json
import time
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from eosctl.errors import AuthenticationFailed, UsageError
from eosctl.model.client_config import CloudLogin, CloudProvider
from eosctl.model.redaction import redact_text
from eosctl.model.secret import Secret

_GOOGLE_SCOPE: Final = "https://www.googleapis.com/auth/cloud-platform"
_LOG_IN: Final = {
    CloudProvider.AWS: "aws sso login, or a role of the machine; AWS_PROFILE selects a profile.",
    CloudProvider.AZURE: "az login, or a managed identity of the machine.",
    CloudProvider.GOOGLE: "gcloud auth application-default login, or a service account of the machine.",
}


class Token(NamedTuple):
    """A token, and the wall clock (s since the epoch) at which it expires; 0 if the issuer does not say."""

    text: Secret
    expires_at: float


def fetch_cloud_token(login: CloudLogin) -> Token:
    """Return a token of a cloud, by the credentials that its package finds on this machine. Blocks.

    Raises:
        AuthenticationFailed: The package finds no credentials, or the cloud refuses them.
        UsageError: The extra is not installed.
    """
    try:
        match login.provider:
            case CloudProvider.AWS:
                return _of_aws(login)
            case CloudProvider.AZURE:
                credential = _load(login, "azure.identity").DefaultAzureCredential()
                issued = credential.get_token(f"https://{login.host}/.default")
                return Token(Secret(issued.token), issued.expires_on)
            case CloudProvider.GOOGLE:
                return _of_google(login)
    except UsageError:
        raise
    except Exception as error:  # The packages raise errors of dozens of classes.
        raise AuthenticationFailed(
            f"No token was issued by {login.provider.value} for {login.host}.",
            redact_text(f"{type(error).__name__}: {str(error).partition(chr(10))[0][:300]}"),
            f"Log in first: {_LOG_IN[login.provider]}",
        ) from error


def _of_aws(login: CloudLogin) -> Token:
    signer = _load(login, "aws_msk_iam_sasl_signer.MSKAuthTokenProvider")
    if login.role:
        text, expires_ms = signer.generate_auth_token_from_role_arn(login.region, login.role)
    elif login.profile:
        text, expires_ms = signer.generate_auth_token_from_profile(login.region, login.profile)
    else:
        text, expires_ms = signer.generate_auth_token(login.region)
    return Token(Secret(text), expires_ms / 1000)


def _of_google(login: CloudLogin) -> Token:
    """Return Google's access token in the form of a JWT, as Managed Service for Apache Kafka takes it."""
    credentials, _ = _load(login, "google.auth").default(scopes=[_GOOGLE_SCOPE])
    credentials.refresh(_load(login, "google.auth.transport.requests").Request())
    expiry: datetime = credentials.expiry  # UTC, without a time zone.
    expires_at = expiry.replace(tzinfo=UTC).timestamp()
    email = getattr(credentials, "service_account_email", "") or "eosctl"
    claims = {"exp": int(expires_at), "iat": int(time.time()), "scope": "kafka", "iss": "Google", "sub": email}
    parts = [{"typ": "JWT", "alg": "GOOG_OAUTH2_TOKEN"}, claims]
    words = [*(json.dumps(part) for part in parts), credentials.token]
    return Token(Secret(".".join(_part(word) for word in words)), expires_at)


def _part(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _load(login: CloudLogin, module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        extra = login.provider.name.lower()
        raise UsageError(
            f"Tokens of {login.provider.value} need the extra {extra}.",
            f"The package of {module} cannot be loaded: {error}.",
            f"Install it: pip install 'eosctl[{extra}]'; or give a token: sasl.oauthbearer.token=${{file:PATH}}",
        ) from error
