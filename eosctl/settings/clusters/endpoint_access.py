"""The certificate and the password that protect an endpoint of eosctl; secrets come from files or the environment."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from eosctl.errors import ConfigFileError, UsageError
from eosctl.model.client_config import Given
from eosctl.model.secret import Secret
from eosctl.settings.clusters.endpoint_credentials import NO_CREDENTIALS, EndpointCredentials, read_endpoint_credentials
from eosctl.settings.values.references import resolve_references

USERNAME: Final = "EOSCTL_EXPORTER_USERNAME"
PASSWORD: Final = "EOSCTL_EXPORTER_PASSWORD"  # noqa: S105


def read_server_credentials(path: Path | None, environment: Mapping[str, str]) -> EndpointCredentials:
    """Return the user and password of basic authentication; no password if neither the file nor the variables exist.

    References in the file's password, such as ``${env:NAME}``, are resolved.

    Args:
        path: A properties file with ``username`` and ``password``; it goes before the variables.
        environment: The variables of the process.

    Raises:
        ConfigFileError: The file is invalid, has no user, or has an empty password.
        UsageError: Only one of the variables is set.
    """
    if path is None:
        username, password = environment.get(USERNAME), environment.get(PASSWORD)
        if (username is None) != (password is None):
            raise UsageError(
                f"{USERNAME} and {PASSWORD} go together.",
                "One of them is missing, so the page would not be protected.",
                "Set both, or none.",
            )
        if username is None or password is None:
            return NO_CREDENTIALS
        return _checked(username, password, "the environment")
    given = read_endpoint_credentials(path)
    if given.password is None:
        raise ConfigFileError(f"{path.name} has no password.", "", "Write username=… and password=….")
    password = resolve_references(Given(given.password.reveal(), path.name), environment)
    return _checked(given.username, password, path.name)


def _checked(username: str, password: str, origin: str) -> EndpointCredentials:
    if not username or not password or ":" in username:
        raise ConfigFileError(
            f"The user or the password in {origin} is not usable.",
            "Both must have characters, and a user with a colon cannot be sent (RFC 7617).",
            "Choose others.",
        )
    return EndpointCredentials(username=username, password=Secret(password))


def server_context(certificate: Path, key: Path) -> ssl.SSLContext:
    """Return the TLS settings of a server, from TLS 1.2 on.

    Args:
        certificate: The certificate chain in PEM.
        key: Its private key in PEM, without a password.

    Raises:
        ConfigFileError: A file cannot be read, or the two do not belong together.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        # Without a callback, OpenSSL asks the terminal for the password of an encrypted key.
        context.load_cert_chain(certificate, key, password=lambda: "")
    except OSError as error:
        reason = error.strerror if not isinstance(error, ssl.SSLError) else error.reason
        raise ConfigFileError(
            f"{certificate.name} and {key.name} cannot be used for TLS.",
            f"{reason or error}.",
            "Both must be PEM, belong together, and the key must not be encrypted.",
        ) from error
    return context
