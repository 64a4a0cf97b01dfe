"""TLS material as Kafka's clients name it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final

from eosctl.errors import ConfigFileError
from eosctl.input_file import open_input
from eosctl.model.client_config import TlsConfig
from eosctl.settings.values.lookup import Lookup

_IDENTIFICATION: Final = "ssl.endpoint.identification.algorithm"
_JKS_MAGIC: Final = (b"\xfe\xed\xfe\xed", b"\xce\xce\xce\xce")  # JKS and JCEKS


def parse_tls(lookup: Lookup) -> TlsConfig:
    """Read ``ssl.*`` into a :class:`TlsConfig`.

    Raises:
        ConfigFileError: A store is in Java's own format, which nothing but Java reads, or an algorithm is not known.
    """
    truststore = _store_path(lookup, "ssl.truststore")
    keystore = _store_path(lookup, "ssl.keystore")
    return TlsConfig(
        ca_file=truststore,
        ca_password=lookup.secret("ssl.truststore.password"),
        ca_pem=lookup.text("ssl.truststore.certificates"),
        certificate_file=keystore,
        certificate_password=lookup.secret("ssl.keystore.password"),
        certificate_pem=lookup.text("ssl.keystore.certificate.chain"),
        key_file=lookup.text("ssl.key.location"),
        key_password=lookup.secret("ssl.key.password"),
        key_pem=lookup.secret("ssl.keystore.key"),
        verify_hostname=_verifies_hostname(lookup),
    )


def _verifies_hostname(lookup: Lookup) -> bool:
    """Return whether the broker's name is compared with its certificate.

    Kafka does not with an empty value, librdkafka with ``none``. Java fails each handshake with an unknown value
    (`X509TrustManagerImpl`), so a misspelled one does not turn the comparison off.
    """
    algorithm = lookup.text(_IDENTIFICATION)
    if algorithm is None or algorithm.lower() in ("https", "ldaps"):
        return True
    if algorithm.lower() in ("", "none"):
        return False
    raise ConfigFileError(
        f"{lookup.origin(_IDENTIFICATION)}: {_IDENTIFICATION}={algorithm} is not allowed.",
        "It is https, or empty to leave the broker's name unchecked.",
        "Correct the value, or remove it: https is the default.",
    )


def _store_path(lookup: Lookup, prefix: str) -> str | None:
    location = lookup.text(f"{prefix}.location")
    if location is None:
        return None
    path = Path(location)
    # Java opens a PKCS#12 store that is called JKS, so the file decides where there is one.
    declared_jks = (lookup.text(f"{prefix}.type") or "").upper() in ("JKS", "JCEKS")
    is_jks = _magic(path).startswith(_JKS_MAGIC) if path.is_file() else declared_jks
    if is_jks:
        converted = path.with_suffix(".p12")
        raise ConfigFileError(
            f"{lookup.origin(f'{prefix}.location')}: {path} is a JKS store.",
            "Nothing but Java reads this format.",
            f"Convert it: keytool -importkeystore -srckeystore {shlex.quote(str(path))} "
            f"-destkeystore {shlex.quote(str(converted))} -deststoretype PKCS12 "
            f"and set {prefix}.location={converted}.",
        )
    return location


def _magic(path: Path) -> bytes:
    try:
        with open_input(path) as file:
            return file.read(4)
    except OSError:
        return b""
