"""The TLS context of a client, from PEM or PKCS#12 material."""

from __future__ import annotations

import os
import ssl
import tempfile
from pathlib import Path

from eosctl.errors import ConfigFileError
from eosctl.input_file import read_input
from eosctl.model.client_config import ClientConfig, TlsConfig
from eosctl.model.secret import Secret

_PEM_MARK = b"-----BEGIN"


def tls_context(config: ClientConfig) -> ssl.SSLContext | None:
    """Return the TLS context of a configuration, or None if it does not use TLS.

    Raises:
        ConfigFileError: A file is missing, unreadable, or in an unknown format, or its password is wrong.
    """
    if not config.security_protocol.uses_tls:
        return None
    tls = config.tls
    context = ssl.create_default_context(ssl.Purpose.SERVER_AUTH)
    if not tls.verify_hostname:
        context.check_hostname = False
    trusted = authorities(tls)
    try:
        if trusted is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname = tls.verify_hostname
            context.load_verify_locations(cadata=trusted)
        if (own := identity(tls)) is not None:
            _load_pem(context, *own)
    except ssl.SSLError as error:
        raise ConfigFileError(
            f"The TLS material cannot be used: {error.reason or error}.",
            "A certificate does not belong to its key, a password is wrong, or the PEM text is damaged.",
            "Check ssl.truststore.*, ssl.keystore.* and ssl.key.password.",
        ) from error
    return context


def authorities(tls: TlsConfig) -> str | None:
    """Return the trusted certificates as PEM text; None for the system's.

    Raises:
        ConfigFileError: A store is missing or cannot be opened.
    """
    if tls.ca_pem is not None:
        return tls.ca_pem
    if tls.ca_file is None:
        return None
    data = _read(tls.ca_file)
    if _PEM_MARK in data:
        return data.decode("utf-8", "replace")
    return _open_pkcs12(tls.ca_file, data, tls.ca_password).authorities


def identity(tls: TlsConfig) -> tuple[bytes, str] | None:
    """Return the client's key and certificates as PEM text and the key's password; None without an identity.

    Raises:
        ConfigFileError: A store is missing or cannot be opened.
    """
    password = tls.key_password.reveal() if tls.key_password is not None else ""
    if tls.certificate_pem is not None:
        key = tls.key_pem.reveal() if tls.key_pem is not None else ""
        return f"{key}\n{tls.certificate_pem}".encode(), password
    if tls.certificate_file is None:
        return None
    data = _read(tls.certificate_file)
    if _PEM_MARK not in data:
        return _open_pkcs12(tls.certificate_file, data, tls.certificate_password or tls.key_password).identity, ""
    if tls.key_file is not None:
        data = _read(tls.key_file) + b"\n" + data
    return data, password


def _load_pem(context: ssl.SSLContext, pem: bytes, password: str) -> None:
    """Load key and certificates through a temporary private file, since `ssl` reads identities from files only."""
    descriptor, name = tempfile.mkstemp(suffix=".pem")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(pem)
        # Without a password, OpenSSL would prompt for one on the terminal.
        context.load_cert_chain(name, password=password)
    finally:
        Path(name).unlink()


class _KeyStore:
    """The PEM texts of a PKCS#12 store."""

    def __init__(self, identity: bytes, authorities: str) -> None:
        self.identity = identity
        self.authorities = authorities


def _open_pkcs12(path: str, data: bytes, password: Secret | None) -> _KeyStore:
    try:
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
        from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12
    except ImportError as error:
        raise ConfigFileError(
            f"{path} is a PKCS#12 store, which needs the package cryptography.",
            "It is not installed.",
            "Install eosctl[tls], or convert the store: openssl pkcs12 -in STORE -out store.pem -nodes",
        ) from error
    try:
        store = load_pkcs12(data, password.reveal().encode() if password is not None else None)
    except ValueError as error:
        raise ConfigFileError(
            f"{path} cannot be opened: {error}.",
            "The password is wrong, or the file is neither PEM nor PKCS#12.",
            "Check the password setting of the store.",
        ) from error
    own = [store.cert] if store.cert is not None else []
    certificates = [entry.certificate.public_bytes(Encoding.PEM) for entry in [*own, *store.additional_certs]]
    key = b""
    if store.key is not None:
        key = store.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return _KeyStore(key + b"\n" + b"".join(certificates), b"".join(certificates).decode())


def _read(path: str) -> bytes:
    try:
        return read_input(path)
    except OSError as error:
        raise ConfigFileError(
            f"{path} cannot be read: {error.strerror or error}.",
            "The path is wrong, or this user may not read the file.",
            "Check ssl.truststore.location and ssl.keystore.location.",
        ) from error
