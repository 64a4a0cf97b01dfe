"""Real clients on secured listeners: successes, and eosctl's errors."""

from __future__ import annotations

import asyncio
import socket
import ssl
import warnings
from typing import Any

import pytest
import trustme
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from msgspec.structs import replace

from eosctl.client import connect
from eosctl.client.diagnosis import WrongSecurityProtocol
from eosctl.errors import AuthenticationFailed
from eosctl.model.client_config import ClientConfig, SecurityProtocol, TlsConfig
from eosctl.model.secret import Secret
from eosctl.testing import SandboxThread
from tests.sandbox.security.conftest import config_of, password_of


def librdkafka(sandbox: SandboxThread, user: str = "admin", **more: Any) -> dict[str, Any]:
    config = config_of(sandbox, user)
    assert config.sasl is not None
    return {
        "bootstrap.servers": sandbox.bootstrap,
        "security.protocol": config.security_protocol.value,
        "sasl.mechanism": config.sasl.mechanism.value,
        "sasl.username": user,
        "sasl.password": password_of(sandbox, user),
        "ssl.ca.location": config.tls.ca_file or "",
        **more,
    }


def test_librdkafka_commits_through_two_secured_brokers(encrypted: SandboxThread) -> None:
    settings = librdkafka(encrypted, "alice")
    admin = AdminClient(settings)
    admin.create_topics([NewTopic("secured", 1, 2)])["secured"].result(60)
    producer = Producer({**settings, "transactional.id": "secured-1", "acks": "all"})
    producer.init_transactions(60)
    producer.begin_transaction()
    producer.produce("secured", b"v")
    producer.commit_transaction(60)
    consumer = Consumer(
        {**settings, "group.id": "secured", "auto.offset.reset": "earliest", "isolation.level": "read_committed"}
    )
    consumer.subscribe(["secured"])
    try:
        message = consumer.poll(60)
        assert message is not None
        assert message.value() == b"v"
    finally:
        consumer.close()


def test_librdkafka_reports_that_the_password_is_wrong(encrypted: SandboxThread) -> None:
    reasons: list[str] = []
    settings = librdkafka(
        encrypted, **{"sasl.password": "wrong", "error_cb": lambda error: reasons.append(error.str())}
    )
    admin = AdminClient(settings)
    with pytest.raises(KafkaException):
        admin.list_topics(timeout=3)
    admin.poll(1)
    assert any("invalid credentials" in reason.lower() for reason in reasons), reasons


def test_kafka_python_logs_in(encrypted: SandboxThread) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # kafka-python reads its resources in an old way
        from kafka import KafkaConsumer

    config = config_of(encrypted, "alice")
    consumer = KafkaConsumer(
        bootstrap_servers=encrypted.bootstrap.split(","),
        security_protocol="SASL_SSL",
        sasl_mechanism="SCRAM-SHA-512",
        sasl_plain_username="alice",
        sasl_plain_password=password_of(encrypted, "alice"),
        ssl_cafile=config.tls.ca_file,
    )
    try:
        assert isinstance(consumer.topics(), set)
    finally:
        consumer.close()


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_aiokafka_logs_in_by_every_mechanism(login_only: SandboxThread, mechanism: str) -> None:
    from aiokafka.admin import AIOKafkaAdminClient

    async def ask() -> list[str]:
        admin = AIOKafkaAdminClient(
            bootstrap_servers=login_only.bootstrap,
            security_protocol="SASL_PLAINTEXT",
            sasl_mechanism=mechanism,
            sasl_plain_username="alice",
            sasl_plain_password=password_of(login_only, "alice"),
        )
        await admin.start()
        try:
            found: list[str] = await admin.list_topics()
            return found
        finally:
            await admin.close()

    assert isinstance(asyncio.run(ask()), list)


async def reach(config: ClientConfig) -> tuple[int, ...]:
    async with connect(config) as client:
        return client.cluster.node_ids


def test_our_own_client_uses_the_file_that_lies_ready(encrypted: SandboxThread, login_only: SandboxThread) -> None:
    assert asyncio.run(reach(config_of(encrypted, "alice"))) == (1, 2)
    assert asyncio.run(reach(config_of(login_only))) == (1,)


def test_our_own_client_says_what_is_wrong(encrypted: SandboxThread, login_only: SandboxThread) -> None:
    config = config_of(encrypted)
    config = replace(config, bootstrap=config.bootstrap[:1])
    assert config.sasl is not None
    with pytest.raises(AuthenticationFailed, match="SASL_AUTHENTICATION_FAILED") as refused:
        asyncio.run(reach(replace(config, sasl=replace(config.sasl, password=Secret("wrong")))))
    assert "wrong" not in str(refused.value)
    stranger = TlsConfig(ca_pem=trustme.CA().cert_pem.bytes().decode())
    with pytest.raises(AuthenticationFailed, match="not to be trusted"):
        asyncio.run(reach(replace(config, tls=stranger)))
    with pytest.raises(WrongSecurityProtocol, match="is a TLS listener"):
        asyncio.run(reach(replace(config, security_protocol=SecurityProtocol.SASL_PLAINTEXT)))
    with pytest.raises(WrongSecurityProtocol, match="is a plaintext listener"):
        asyncio.run(reach(replace(config_of(login_only), security_protocol=SecurityProtocol.SASL_SSL)))
    with pytest.raises(WrongSecurityProtocol, match="closed the connection at the first request"):
        asyncio.run(reach(replace(config_of(login_only), security_protocol=SecurityProtocol.PLAINTEXT)))


def test_certificates_name_the_address_and_old_tls_is_refused(encrypted: SandboxThread) -> None:
    host, _, port = encrypted.bootstrap.split(",")[0].rpartition(":")
    context = ssl.create_default_context(cafile=config_of(encrypted).tls.ca_file)
    with (
        socket.create_connection((host, int(port)), timeout=60) as plain,
        context.wrap_socket(plain, server_hostname=host) as secured,
    ):
        assert secured.version() in ("TLSv1.2", "TLSv1.3")
