"""Logins that ask others: Kerberos, an issuer of tokens, and the login services of clouds."""

from __future__ import annotations

import pytest

from eosctl.errors import ConfigFileError
from eosctl.model.client_config import CloudLogin, CloudProvider, KerberosLogin, SaslConfig, TokenRequest
from eosctl.model.secret import Secret
from eosctl.settings.clusters.client_resolution import resolve_client

KRB5 = "com.sun.security.auth.module.Krb5LoginModule required"
OAUTH = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
MSK = "b-1.demo.x1.c2.kafka.eu-central-1.amazonaws.com:9098"
ISSUER = "sasl.oauthbearer.token.endpoint.url=https://login.example/token"


def sasl(*settings: str, bootstrap: str = "b:1", **environment: str) -> SaslConfig:
    given = dict(setting.split("=", 1) for setting in ("security.protocol=SASL_SSL", *settings))
    # As -X, secrets would be refused.
    named = {f"EOSCTL_{name.upper().replace('.', '_')}": value for name, value in given.items()}
    found = resolve_client({**environment, **named}, bootstrap=bootstrap).config.sasl
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("settings", "login"),
    [
        (
            [
                "sasl.kerberos.service.name=kafka",
                f'sasl.jaas.config={KRB5} useKeyTab=true keyTab="/k" principal="ops@R";',
            ],
            KerberosLogin("kafka", "ops@R", "/k"),
        ),
        ([f"sasl.jaas.config={KRB5} useTicketCache=true serviceName=kafka;"], KerberosLogin("kafka")),
        (
            ["sasl.kerberos.service.name=k", "sasl.kerberos.principal=ops", "sasl.kerberos.keytab=/k"],
            KerberosLogin("k", "ops", "/k"),
        ),
        (
            ["sasl.kerberos.service.name=kafka", f'sasl.jaas.config={KRB5} useKeyTab=false keyTab="/k";'],
            KerberosLogin("kafka"),
        ),
    ],
)
def test_kerberos_is_read_as_java_and_librdkafka_write_it(settings: list[str], login: KerberosLogin) -> None:
    assert sasl("sasl.mechanism=GSSAPI", *settings).kerberos == login
    assert sasl(*settings).kerberos == login  # Kafka's default mechanism.


def test_kerberos_without_a_service_says_that_it_is_the_default() -> None:
    with pytest.raises(ConfigFileError, match="service name") as caught:
        sasl()
    assert "Kafka's default" in caught.value.why
    with pytest.raises(ConfigFileError, match=r"does not go with sasl\.mechanism=GSSAPI"):
        sasl(f"sasl.jaas.config={OAUTH};", "sasl.kerberos.service.name=kafka")


@pytest.mark.parametrize(
    "settings",
    [
        [f'sasl.jaas.config={OAUTH} clientId="ops" clientSecret="word" scope="kafka";'],
        [
            "sasl.oauthbearer.client.credentials.client.id=ops",
            "sasl.oauthbearer.client.credentials.client.secret=word",
            "sasl.oauthbearer.scope=kafka",
        ],
    ],
)
def test_an_issuer_is_asked_with_the_clients_credentials(settings: list[str]) -> None:
    found = sasl("sasl.mechanism=OAUTHBEARER", ISSUER, *settings)
    assert found.token_source == TokenRequest("https://login.example/token", "ops", Secret("word"), "kafka")
    assert found.asks_others


def test_an_issuer_without_credentials_is_refused() -> None:
    with pytest.raises(ConfigFileError, match="id or secret is missing"):
        sasl("sasl.mechanism=OAUTHBEARER", ISSUER, f'sasl.jaas.config={OAUTH} clientId="ops";')


@pytest.mark.parametrize(
    ("settings", "bootstrap", "login"),
    [
        (["sasl.mechanism=AWS_MSK_IAM"], MSK, CloudLogin(CloudProvider.AWS, MSK[:-5], "eu-central-1")),
        (
            [
                "sasl.mechanism=OAUTHBEARER",
                "sasl.login.callback.handler.class=software.amazon.msk.auth.iam.IAMOAuthBearerLoginCallbackHandler",
                f'sasl.jaas.config={OAUTH} awsProfileName="prod" awsRoleArn="arn";',
            ],
            "broker:9098",
            CloudLogin(CloudProvider.AWS, "broker", "us-east-1", "prod", "arn"),
        ),
        (
            ["sasl.mechanism=OAUTHBEARER"],
            "ns.servicebus.windows.net:9093",
            CloudLogin(CloudProvider.AZURE, "ns.servicebus.windows.net", "us-east-1"),
        ),
        (
            ["sasl.mechanism=OAUTHBEARER"],
            "bootstrap.c.eu.managedkafka.p.cloud.goog:9092",
            CloudLogin(CloudProvider.GOOGLE, "bootstrap.c.eu.managedkafka.p.cloud.goog", "us-east-1"),
        ),
    ],
)
def test_a_cloud_is_known_by_handler_mechanism_or_host(settings: list[str], bootstrap: str, login: CloudLogin) -> None:
    assert sasl(*settings, bootstrap=bootstrap, AWS_REGION="us-east-1").token_source == login


def test_a_region_that_nothing_names_is_asked_for() -> None:
    with pytest.raises(ConfigFileError, match="region"):
        sasl("sasl.mechanism=AWS_MSK_IAM", bootstrap="broker:9098")
