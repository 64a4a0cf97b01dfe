"""Connection settings: the typed result of client.properties, `-X`, and profiles."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

import msgspec

from eosctl.model.secret import Secret


class SecurityProtocol(StrEnum):
    """Kafka's `security.protocol`."""

    PLAINTEXT = "PLAINTEXT"
    SSL = "SSL"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SASL_SSL = "SASL_SSL"

    @property
    def uses_tls(self) -> bool:
        """Return whether the connection is encrypted."""
        return self in (SecurityProtocol.SSL, SecurityProtocol.SASL_SSL)

    @property
    def uses_sasl(self) -> bool:
        """Return whether the client authenticates through SASL."""
        return self in (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)


class SaslMechanism(StrEnum):
    """The SASL mechanisms that eosctl supports (`sasl.mechanism`)."""

    PLAIN = "PLAIN"
    SCRAM_SHA_256 = "SCRAM-SHA-256"
    SCRAM_SHA_512 = "SCRAM-SHA-512"
    OAUTHBEARER = "OAUTHBEARER"
    GSSAPI = "GSSAPI"


class Endpoint(msgspec.Struct, frozen=True):
    """A host and port, as given or as advertised by a broker."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


class TlsConfig(msgspec.Struct, frozen=True):
    """PEM material and verification; paths name PEM or PKCS#12 files on this machine.

    Texts (`*_pem`) take precedence over files. Without `ca_file` and `ca_pem`, the system's trust store is used.
    `certificate_password` opens the store, `key_password` the key in it. `verify_hostname` False corresponds to an
    empty `ssl.endpoint.identification.algorithm`.
    """

    ca_file: str | None = None
    ca_password: Secret | None = None
    ca_pem: str | None = None
    certificate_file: str | None = None
    certificate_password: Secret | None = None
    certificate_pem: str | None = None
    key_file: str | None = None
    key_password: Secret | None = None
    key_pem: Secret | None = None
    verify_hostname: bool = True


class KerberosLogin(msgspec.Struct, frozen=True):
    """A login through Kerberos.

    `service` is the first part of the brokers' principals (`sasl.kerberos.service.name`). Without `keytab`, the tickets
    of the user's cache count; without `principal`, its default principal.
    """

    service: str
    principal: str = ""
    keytab: str | None = None


class TokenRequest(msgspec.Struct, frozen=True):
    """A request for a token with client credentials (KIP-768): `url` is http or https, `scope` may be empty."""

    url: str
    client_id: str
    client_secret: Secret
    scope: str = ""


class CloudProvider(StrEnum):
    """A cloud with a login service of its own for Kafka."""

    AWS = "Amazon MSK"
    AZURE = "Azure Event Hubs"
    GOOGLE = "Google Managed Service for Apache Kafka"


class CloudLogin(msgspec.Struct, frozen=True):
    """A login with the cloud's own credentials of this machine.

    `region`, `profile`, and `role` are Amazon's; `host` is the first bootstrap address.
    """

    provider: CloudProvider
    host: str
    region: str = ""
    profile: str = ""
    role: str = ""


class SaslConfig(msgspec.Struct, frozen=True):
    """Credentials of one SASL mechanism."""

    mechanism: SaslMechanism
    username: str = ""
    password: Secret | None = None
    token: Secret | None = None
    token_source: TokenRequest | CloudLogin | None = None
    kerberos: KerberosLogin | None = None

    @property
    def asks_others(self) -> bool:
        """Return whether the login asks a KDC or an issuer of tokens, over the network."""
        return self.kerberos is not None or self.token_source is not None


class ClientConfig(msgspec.Struct, frozen=True):
    """The configuration of a client's connections.

    Times are milliseconds: `request_timeout_ms` limits a request (`request.timeout.ms`), `timeout_ms` an operation with
    its retries (`default.api.timeout.ms`). With `remembers_answers`, a response with the bytes of the last one to the
    same request is not decoded again, and its message must not be changed. `requests_per_second` limits the requests to
    each broker; None sets none.
    """

    bootstrap: tuple[Endpoint, ...]
    security_protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT
    tls: TlsConfig = TlsConfig()
    sasl: SaslConfig | None = None
    client_id: str = "eosctl"
    connect_timeout_ms: int = 5_000
    request_timeout_ms: int = 10_000
    timeout_ms: int = 30_000
    retry_backoff_ms: int = 50
    ignored_keys: tuple[str, ...] = ()
    remembers_answers: bool = False
    requests_per_second: float | None = None


class Given(NamedTuple):
    """A value in its text form and its origin (`client.properties:12`, `-X`, `profile prod`)."""

    text: str
    origin: str


class Profile(msgspec.Struct, frozen=True):
    """A named set of client settings; `protected` makes commands require a second confirmation before changes."""

    name: str
    properties: Mapping[str, Given]
    protected: bool = False
