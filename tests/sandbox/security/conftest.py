"""Secured sandboxes for the tests of this folder, and the passwords of their users."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from eosctl.model.client_config import ClientConfig
from eosctl.settings.clusters.client_resolution import resolve_client
from eosctl.testing import SandboxThread

USERS = ("admin", "alice")


def config_of(sandbox: SandboxThread, user: str = "admin") -> ClientConfig:
    return resolve_client({}, command_config=sandbox.client_properties(user)).config


def password_of(sandbox: SandboxThread, user: str = "admin") -> str:
    login = config_of(sandbox, user).sasl
    assert login is not None
    assert login.password is not None
    return login.password.reveal()


@pytest.fixture(scope="package")
def login_only() -> Iterator[SandboxThread]:
    """A broker without TLS that knows all mechanisms."""
    with SandboxThread(sasl=("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"), users=USERS, fast=False) as running:
        yield running


@pytest.fixture(scope="package")
def encrypted() -> Iterator[SandboxThread]:
    """Two brokers with TLS and a login."""
    with SandboxThread(brokers=2, sasl=("SCRAM-SHA-512",), tls=True, users=USERS, fast=False) as running:
        yield running
