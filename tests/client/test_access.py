"""The connection parameters of a run are passed to programs of other clients."""

from __future__ import annotations

from pathlib import Path

import pytest
import trustme
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.hazmat.primitives.serialization.pkcs12 import serialize_key_and_certificates
from cryptography.x509 import load_pem_x509_certificate

from eosctl.client.access import program_access
from eosctl.errors import ConfigFileError
from eosctl.model.client_config import ClientConfig, Endpoint, SaslConfig, SaslMechanism, SecurityProtocol, TlsConfig
from eosctl.model.secret import Secret

BOOTSTRAP = (Endpoint("kafka", 9092), Endpoint("::1", 9093))


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def own(authority: trustme.CA) -> trustme.LeafCert:
    return authority.issue_cert("client")


def access_of(tls: TlsConfig) -> dict[str, object]:
    return program_access(ClientConfig(BOOTSTRAP, SecurityProtocol.SSL, tls))


def test_a_cluster_without_security_is_its_addresses() -> None:
    assert program_access(ClientConfig(BOOTSTRAP)) == {"bootstrap": "kafka:9092,[::1]:9093", "protocol": "PLAINTEXT"}


def test_a_login_is_passed_in_the_clear() -> None:
    login = SaslConfig(SaslMechanism.SCRAM_SHA_512, "alice", Secret('a "word" \\'))
    access = program_access(ClientConfig(BOOTSTRAP, SecurityProtocol.SASL_PLAINTEXT, sasl=login))
    assert (access["mechanism"], access["username"], access["password"]) == ("SCRAM-SHA-512", "alice", 'a "word" \\')
    assert "ca" not in access
    token = SaslConfig(SaslMechanism.OAUTHBEARER, token=Secret("t"))
    assert program_access(ClientConfig(BOOTSTRAP, SecurityProtocol.SASL_PLAINTEXT, sasl=token))["token"] == "t"


def test_without_an_identity_there_is_only_whom_to_trust(authority: trustme.CA) -> None:
    pem = authority.cert_pem.bytes().decode()
    assert access_of(TlsConfig(ca_pem=pem, verify_hostname=False)) == {
        "bootstrap": "kafka:9092,[::1]:9093",
        "protocol": "SSL",
        "verify_hostname": False,
        "ca": pem,
        "certificate": "",
        "key": "",
    }
    assert access_of(TlsConfig())["ca"] == ""


@pytest.mark.parametrize("password", [None, "a word"])
@pytest.mark.parametrize("form", [PrivateFormat.TraditionalOpenSSL, PrivateFormat.PKCS8])
def test_a_key_of_any_form_is_passed_as_pkcs8(
    form: PrivateFormat, password: str | None, own: trustme.LeafCert, tmp_path: Path
) -> None:
    plain = own.private_key_pem.bytes()
    key = load_pem_private_key(plain, None)
    locked = BestAvailableEncryption(password.encode()) if password else NoEncryption()
    (tmp_path / "key.pem").write_bytes(key.private_bytes(Encoding.PEM, form, locked))
    (tmp_path / "own.pem").write_bytes(own.cert_chain_pems[0].bytes())
    files = TlsConfig(
        certificate_file=str(tmp_path / "own.pem"),
        key_file=str(tmp_path / "key.pem"),
        key_password=Secret(password) if password else None,
    )
    access = access_of(files)
    assert str(access["certificate"]).strip() == own.cert_chain_pems[0].bytes().decode().strip()
    assert str(access["key"]).startswith("-----BEGIN PRIVATE KEY-----")
    assert load_pem_private_key(str(access["key"]).encode(), None).private_numbers() == key.private_numbers()  # type: ignore[union-attr]


def test_a_store_is_opened_here(authority: trustme.CA, own: trustme.LeafCert, tmp_path: Path) -> None:
    store = serialize_key_and_certificates(
        b"own",
        load_pem_private_key(own.private_key_pem.bytes(), None),  # type: ignore[arg-type]
        load_pem_x509_certificate(own.cert_chain_pems[0].bytes()),
        [load_pem_x509_certificate(authority.cert_pem.bytes())],
        BestAvailableEncryption(b"store word"),
    )
    (tmp_path / "own.p12").write_bytes(store)
    access = access_of(TlsConfig(certificate_file=str(tmp_path / "own.p12"), certificate_password=Secret("store word")))
    assert str(access["certificate"]).count("BEGIN CERTIFICATE") == 2
    assert str(access["key"]).startswith("-----BEGIN PRIVATE KEY-----")


def test_unusable_settings_are_refused_before_a_program_starts(own: trustme.LeafCert) -> None:
    chain = own.cert_chain_pems[0].bytes().decode()
    with pytest.raises(ConfigFileError, match="has no key"):
        access_of(TlsConfig(certificate_pem=chain))
    key = load_pem_private_key(own.private_key_pem.bytes(), None)
    locked = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"right")).decode()
    for password in (None, Secret("wrong")):
        with pytest.raises(ConfigFileError, match="cannot be opened"):
            access_of(TlsConfig(certificate_pem=chain, key_pem=Secret(locked), key_password=password))
