"""Certificates of a client in the forms that librdkafka's tests read, as their cluster tool creates them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)
from cryptography.x509.oid import NameOID

PASSWORD: Final = "12345678"
LIFETIME: Final = timedelta(days=1)


class ClientCertificate(NamedTuple):
    """The files of a client's certificate.

    Attributes:
        settings: librdkafka's settings that name them.
        variables: Environment variables of the tests that name each form.
    """

    settings: Mapping[str, str]
    variables: Mapping[str, str]


def client_certificate(directory: Path, authority: Path) -> ClientCertificate:
    """Write a key and a certificate of a client in `directory`.

    Brokers with a login do not verify them, so the certificate is signed with its own key.

    Args:
        directory: Where the files are created.
        authority: The PEM file with the authority of the brokers, which the forms contain.
    """
    directory.mkdir(parents=True, exist_ok=True)
    trusted = x509.load_pem_x509_certificate(authority.read_bytes())
    key, certificate = _issue("librdkafka")
    _, unused = _issue("unused authority")
    locked = BestAvailableEncryption(PASSWORD.encode())
    contents = {
        "priv_pem": key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, locked),
        "priv_der": key.private_bytes(Encoding.DER, PrivateFormat.TraditionalOpenSSL, NoEncryption()),
        "pub_pem": certificate.public_bytes(Encoding.PEM),
        "pub_der": certificate.public_bytes(Encoding.DER),
        "pkcs": pkcs12.serialize_key_and_certificates(b"librdkafka", key, certificate, [trusted], locked),
        "ca_pem": trusted.public_bytes(Encoding.PEM),
        "ca_der": trusted.public_bytes(Encoding.DER),
        "all_cas_pem": unused.public_bytes(Encoding.PEM) + trusted.public_bytes(Encoding.PEM),
    }
    for name, data in contents.items():
        (directory / name).write_bytes(data)
    settings = {
        "ssl.ca.location": str(directory / "ca_pem"),
        "ssl.certificate.location": str(directory / "pub_pem"),
        "ssl.key.location": str(directory / "priv_pem"),
        "ssl.key.password": PASSWORD,
    }
    variables = {f"SSL_{name}": str(directory / name) for name in contents}
    return ClientCertificate(settings, variables | {"SSL_password": PASSWORD})


def _issue(name: str) -> tuple[rsa.RSAPrivateKey, x509.Certificate]:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - LIFETIME)
        .not_valid_after(now + LIFETIME)
    )
    return key, builder.sign(key, hashes.SHA256())
