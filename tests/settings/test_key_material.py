from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.errors import ConfigFileError
from eosctl.model.client_config import TlsConfig
from eosctl.model.secret import Secret
from eosctl.settings.clusters.client_resolution import resolve_client


def tls(*settings: str) -> TlsConfig:
    return resolve_client(variables("security.protocol=SSL", *settings), bootstrap="b:1").config.tls


def variables(*settings: str) -> dict[str, str]:
    """Return settings as the environment states them: arguments hold no secrets."""
    pairs = (setting.partition("=") for setting in settings)
    return {f"EOSCTL_{name.upper().replace('.', '_')}": value for name, _, value in pairs}


def test_a_jks_store_is_rejected_with_the_conversion_command(tmp_path: Path) -> None:
    store = tmp_path / "my trust.jks"
    store.write_bytes(b"\xfe\xed\xfe\xed\0\0\0\2")
    with pytest.raises(ConfigFileError) as caught:
        tls(f"ssl.truststore.location={store}", "ssl.truststore.password=hunter2")
    assert "keytool -importkeystore" in caught.value.next_step
    assert f"'{store}'" in caught.value.next_step
    assert "hunter2" not in str(caught.value)


def test_what_the_file_holds_counts_more_than_the_declared_type(tmp_path: Path) -> None:
    store = tmp_path / "trust.jks"
    store.write_bytes(b"\x30\x82\0\0")
    assert tls(f"ssl.truststore.location={store}", "ssl.truststore.type=JKS").ca_file == str(store)


def test_an_absent_store_that_is_declared_jks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigFileError, match="JKS"):
        tls(f"ssl.keystore.location={tmp_path / 'absent.jks'}", "ssl.keystore.type=jks")


def test_pem_texts_stand_in_the_properties() -> None:
    config = tls(
        "ssl.truststore.type=PEM",
        "ssl.truststore.certificates=-----BEGIN CERTIFICATE-----",
        "ssl.keystore.certificate.chain=chain",
        "ssl.keystore.key=key",
        "ssl.key.password=word",
    )
    assert config == TlsConfig(
        ca_pem="-----BEGIN CERTIFICATE-----",
        certificate_pem="chain",
        key_pem=Secret("key"),
        key_password=Secret("word"),
    )


def test_a_token_comes_from_the_setting_or_its_file(tmp_path: Path) -> None:
    file = tmp_path / "to ken"
    file.write_text("abc.def\n")
    base = ["security.protocol=SASL_SSL", "sasl.mechanism=OAUTHBEARER"]
    for override in (
        "sasl.oauthbearer.token=abc.def",
        f"sasl.oauthbearer.token.endpoint.url=file://{tmp_path}/to%20ken",
    ):
        sasl = resolve_client(variables(*base, override), bootstrap="b:1").config.sasl
        assert sasl is not None
        assert sasl.token == Secret("abc.def")
    for url in ("ftp://login.example", "http://[::1"):
        with pytest.raises(ConfigFileError, match="No token"):
            resolve_client({}, bootstrap="b:1", overrides=[*base, f"sasl.oauthbearer.token.endpoint.url={url}"])
