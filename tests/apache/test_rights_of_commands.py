"""On a real authorizer, the rights of each command of `check acl` are exact: one start for all of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from eosctl.model.access import ApplicationKind
from eosctl.services.connection import Connection
from eosctl.services.event_loop import run
from tests.apache.guarded_pair import guarded_pair
from tests.apache.test_authorization import PASSWORDS
from tests.apache.test_own_rights import client_settings
from tests.sandbox.security.own_rights import use_everything
from tests.sandbox.security.rights_proof import BROKERS, COMMANDS, Scene, prove, write_inputs

pytestmark = pytest.mark.usefixtures("own_home")


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder = write_inputs(tmp_path_factory.mktemp("rights"))
    admin, alice = (client_settings(folder, user) for user in ("admin", "alice"))

    def use(bootstrap: str) -> None:
        run(lambda: use_everything(Connection(bootstrap, admin)))

    with guarded_pair(folder / "kafka", PASSWORDS, BROKERS, use) as pair:
        yield Scene(pair.bootstrap, admin, alice, PASSWORDS["admin"], folder, pair.stop, pair.start)


@pytest.mark.parametrize("kind", COMMANDS, ids=lambda kind: kind.value)
def test_the_rights_are_exact(kind: ApplicationKind, scene: Scene) -> None:
    prove(kind, scene)
