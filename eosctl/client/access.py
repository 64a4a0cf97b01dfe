"""Connection parameters for programs of other client libraries, in a form that needs no files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from eosctl.client.tls import authorities, identity
from eosctl.client.tokens import fetch_token
from eosctl.errors import ConfigFileError
from eosctl.model.client_config import ClientConfig, TlsConfig

_BLOCK: Final = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----.*?-----END \1-----", re.DOTALL)
_PKCS8: Final = "PRIVATE KEY"
_CERTIFICATES: Final = ("CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE")


def program_access(config: ClientConfig) -> dict[str, Any]:
    """Return the first line for a program's stdin. It contains secrets and must not be written elsewhere.

    `bootstrap`, `protocol` (Kafka's `security.protocol`); with TLS `verify_hostname` and the PEM texts `ca` (empty for
    the client's trust store), `certificate`, and `key` (PKCS#8, unencrypted; empty without an identity); with SASL
    `mechanism`, `username`, and `password`, or `token`.

    Raises:
        ConfigFileError: The TLS material cannot be used, or the login is through Kerberos.
        AuthenticationFailed: The issuer of tokens refuses, or does not answer.
    """
    access: dict[str, Any] = {
        "bootstrap": ",".join(map(str, config.bootstrap)),
        "protocol": config.security_protocol.value,
    }
    if config.security_protocol.uses_tls:
        access |= _tls(config.tls)
    if config.security_protocol.uses_sasl and config.sasl is not None:
        sasl = config.sasl
        if sasl.kerberos is not None:
            raise ConfigFileError(
                "This command cannot log in through Kerberos (GSSAPI).",
                "It connects through other clients than eosctl's own, which are built without it.",
                "Use another mechanism of the listener: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, or OAUTHBEARER.",
            )
        token = sasl.token if sasl.token_source is None else fetch_token(sasl.token_source)
        access |= {
            "mechanism": sasl.mechanism.value,
            "username": sasl.username,
            "password": sasl.password.reveal() if sasl.password is not None else "",
            "token": token.reveal() if token is not None else "",
        }
    return access


BEARER: Final = "sasl.oauthbearer.token"


def librdkafka_settings(access: Mapping[str, Any]) -> dict[str, str]:
    """Return librdkafka's settings for connecting to a cluster without files.

    Args:
        access: The result of `program_access`.

    Returns:
        Settings by name. `BEARER` is not a librdkafka setting: the caller passes its value through `oauth_cb`.
    """
    settings = {"bootstrap.servers": access["bootstrap"], "security.protocol": access["protocol"]}
    if "ca" in access:
        given = {"ssl.ca.pem": access["ca"], "ssl.certificate.pem": access["certificate"], "ssl.key.pem": access["key"]}
        settings |= {name: text for name, text in given.items() if text}
        settings["ssl.endpoint.identification.algorithm"] = "https" if access["verify_hostname"] else "none"
    if access.get("token"):
        settings |= {"sasl.mechanism": access["mechanism"], BEARER: access["token"]}
    elif "mechanism" in access:
        settings |= {
            "sasl.mechanism": access["mechanism"],
            "sasl.username": access["username"],
            "sasl.password": access["password"],
        }
    return settings


def _tls(tls: TlsConfig) -> dict[str, Any]:
    own = identity(tls)
    certificate, key = _split(*own) if own is not None else ("", "")
    trusted = authorities(tls) or ""
    return {"verify_hostname": tls.verify_hostname, "ca": trusted, "certificate": certificate, "key": key}


def _split(pem: bytes, password: str) -> tuple[str, str]:
    """Return the certificates and the key of an identity; the key in a format that every client reads."""
    blocks = [(found[1], found[0] + "\n") for found in _BLOCK.finditer(pem.decode("utf-8", "replace"))]
    certificates = "".join(block for name, block in blocks if name in _CERTIFICATES)
    keys = [(name, block) for name, block in blocks if name.endswith(_PKCS8)]
    if not keys:
        raise ConfigFileError(
            "The client's certificate has no key.",
            "Neither the store nor the text holds a private key in PEM.",
            "Check ssl.keystore.location and ssl.keystore.key.",
        )
    name, block = keys[0]
    return certificates, block if name == _PKCS8 else _to_pkcs8(block, password)


def _to_pkcs8(key: str, password: str) -> str:
    try:
        from cryptography.hazmat.primitives.serialization import (
            Encoding,
            NoEncryption,
            PrivateFormat,
            load_pem_private_key,
        )
    except ImportError as error:
        raise ConfigFileError(
            "The client's key is encrypted or not of the form PKCS#8, which needs the package cryptography.",
            "It is not installed.",
            "Install eosctl[tls], or convert the key: openssl pkcs8 -topk8 -nocrypt -in KEY -out key.pem",
        ) from error
    try:
        opened = load_pem_private_key(key.encode(), password.encode() or None)
    except (ValueError, TypeError) as error:
        raise ConfigFileError(
            f"The client's key cannot be opened: {error}.",
            "The password is wrong or missing.",
            "Check ssl.key.password.",
        ) from error
    return opened.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
