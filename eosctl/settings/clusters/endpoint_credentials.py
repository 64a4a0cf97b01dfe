"""The credentials of metric endpoints; kept in a file, because every user can see arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from eosctl.errors import ConfigFileError
from eosctl.model.secret import Secret
from eosctl.model.setting_names import is_setting_name
from eosctl.settings.formats.properties_file import read_properties

_STORES: Final = ("ssl.truststore.location", "ssl.keystore.location")
_KEYS: Final = ("username", "password", "token", *_STORES, "ssl.truststore.password", "ssl.keystore.password")


class EndpointCredentials(msgspec.Struct, frozen=True):
    """What to show a metrics endpoint.

    Attributes:
        username: Of JMX, or of HTTP basic authentication.
        password: The same's.
        token: A bearer token, instead of a user.
        truststore: A Java truststore with which JMX's certificate is checked; the JVM's own without.
        truststore_password: The truststore's.
        keystore: A Java keystore with the certificate that JMX wants of its clients.
        keystore_password: The keystore's.
    """

    username: str = ""
    password: Secret | None = None
    token: Secret | None = None
    truststore: str = ""
    truststore_password: Secret | None = None
    keystore: str = ""
    keystore_password: Secret | None = None


NO_CREDENTIALS: Final = EndpointCredentials()


def read_endpoint_credentials(path: Path | None) -> EndpointCredentials:
    """Read a properties file with ``username`` and ``password``, or ``token``; without a file there are no credentials.

    Raises:
        ConfigFileError: The file cannot be read, holds another key, or half of a pair.
    """
    if path is None:
        return NO_CREDENTIALS
    given = {key: one.text for key, one in read_properties(path).items()}
    if unknown := sorted(given.keys() - set(_KEYS)):
        shown = f"{unknown[0]!r}" if is_setting_name(unknown[0]) else "A line"
        raise ConfigFileError(
            f"{path.name}: {shown} is not a credential setting.", "", f"Known settings: {', '.join(_KEYS)}."
        )
    if ("username" in given) != ("password" in given):
        raise ConfigFileError(f"{path.name}: username and password go together.", "One of them is missing.", "Add it.")
    if not given.keys() & {"username", "token", *_STORES}:
        raise ConfigFileError(f"{path.name} holds no credentials.", "", "Write username=… and password=…, or token=….")
    if given.keys() >= {"username", "token"}:
        raise ConfigFileError(f"{path.name}: token and username exclude each other.", "", "Keep one of them.")
    return EndpointCredentials(
        username=given.get("username", ""),
        password=_secret(given.get("password")),
        token=_secret(given.get("token")),
        truststore=given.get("ssl.truststore.location", ""),
        truststore_password=_secret(given.get("ssl.truststore.password")),
        keystore=given.get("ssl.keystore.location", ""),
        keystore_password=_secret(given.get("ssl.keystore.password")),
    )


def _secret(text: str | None) -> Secret | None:
    return None if text is None else Secret(text)
