"""On the sandbox's authorizer, the rights of each command of `check acl` are exact."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from eosctl.model.access import ApplicationKind
from eosctl.sandbox.security.protocol import STANDARD_AUTHORIZER
from eosctl.services.connection import Connection
from eosctl.services.event_loop import run
from eosctl.testing import SandboxThread
from tests.sandbox.security.conftest import USERS, password_of
from tests.sandbox.security.own_rights import use_everything
from tests.sandbox.security.rights_proof import BROKERS, COMMANDS, Scene, prove, write_inputs

pytestmark = pytest.mark.usefixtures("own_home")

AUTHORIZER = {"authorizer.class.name": STANDARD_AUTHORIZER, "super.users": "User:admin"}


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder = write_inputs(tmp_path_factory.mktemp("rights"))
    with SandboxThread(brokers=3, fast=False, sasl=("PLAIN",), users=USERS, config=BROKERS | AUTHORIZER) as running:
        admin, alice = (running.client_properties(user) for user in USERS)
        run(lambda: use_everything(Connection(running.bootstrap, admin)))
        yield Scene(
            running.bootstrap,
            admin,
            alice,
            password_of(running, "admin"),
            folder,
            running.stop_broker,
            running.start_broker,
        )


@pytest.mark.parametrize("kind", COMMANDS, ids=lambda kind: kind.value)
def test_the_rights_are_exact(kind: ApplicationKind, scene: Scene) -> None:
    prove(kind, scene)
