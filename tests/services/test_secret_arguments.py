"""A setting that is a secret is refused as an argument, is taken as a reference, and is in no argument of a process."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.errors import UsageError
from eosctl.knowledge.parameter_tables import load_tables
from eosctl.services.sandboxes import parse_setting
from eosctl.services.spark_job import DEFAULT_MASTER, DeployMode, check_connect, settings_by_name
from eosctl.settings.clusters.client_properties import SECRET_NAMES

CANARY = "q7Hunter2tok"
SPARK = ("spark.hadoop.fs.s3a.secret.key", "spark.authenticate.secret", "spark.ssl.keyPassword")
# Kafka hides these, too; certificates are shown to every client.
CERTIFICATES = {"ssl.truststore.certificates", "ssl.keystore.certificate.chain"}
OF_KAFKA = {name for name, one in load_tables()["broker"].parameters.items() if one.type == "password"} - CERTIFICATES


@pytest.mark.parametrize("name", sorted(OF_KAFKA | SECRET_NAMES))
def test_a_broker_setting_holds_no_secret(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="in clear text") as caught:
        parse_setting(f"{name}={CANARY}")
    assert CANARY not in str(caught.value)
    kept = tmp_path / "kept"
    kept.write_text(f"{CANARY}\n")
    monkeypatch.setenv("KEPT", CANARY)
    assert parse_setting(f"{name}=${{file:{kept}}}") == parse_setting(f"{name}=${{KEPT}}") == (name, CANARY)


def test_the_tables_name_secrets_of_a_broker() -> None:
    assert "delegation.token.secret.key" in OF_KAFKA
    assert len(OF_KAFKA) > 5


def test_other_settings_of_a_broker_stay_as_they_are() -> None:
    for setting in ("num.partitions=3", "delegation.token.max.lifetime.ms=5", "log.dir=${dir:x}"):
        assert "=".join(parse_setting(setting)) == setting


@pytest.mark.parametrize(
    "setting", [*(f"{name}={CANARY}" for name in SPARK), f"spark.driver.extraJavaOptions=-Dpassword={CANARY}"]
)
def test_a_setting_of_spark_holds_no_secret(setting: str) -> None:
    with pytest.raises(UsageError, match="in clear text") as caught:
        settings_by_name([setting])
    assert CANARY not in str(caught.value)


def test_references_are_passed_to_spark_as_they_are() -> None:
    given = {
        "spark.hadoop.fs.s3a.secret.key": "${env.AWS_SECRET}",
        "spark.kubernetes.executor.secretKeyRef.AWS_SECRET_ACCESS_KEY": "logs:secret",
        "spark.kerberos.keytab": "/etc/eosctl.keytab",
        "spark.executor.memory": "1g",
        "spark.authenticate": "true",
    }
    assert settings_by_name([f"{name}={value}" for name, value in given.items()]) == given


def test_the_url_of_a_server_holds_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"sc://h:1/;use_ssl=true;token={CANARY}"
    with pytest.raises(UsageError, match="in clear text") as caught:
        check_connect(url, DEFAULT_MASTER, DeployMode.CLIENT, ())
    assert CANARY not in str(caught.value)
    monkeypatch.setenv("SPARK_URL", url)
    assert check_connect("${SPARK_URL}", DEFAULT_MASTER, DeployMode.CLIENT, ()) == url


def test_a_text_without_a_name_is_not_repeated() -> None:
    for parse in (parse_setting, lambda text: settings_by_name([text])):
        with pytest.raises(UsageError) as caught:
            parse(CANARY)
        assert CANARY not in str(caught.value)
