"""The rules that ``check acl`` prints are the smallest: with them an application runs, with one less it does not."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from eosctl.sandbox.security.protocol import STANDARD_AUTHORIZER
from eosctl.testing import SandboxThread
from tests.commands.conftest import eosctl
from tests.sandbox.security.conftest import USERS, password_of
from tests.sandbox.security.least_rights import KINDS, WHO, grant, needed_rules, prepare, prove
from tests.sandbox.security.test_clients import librdkafka

pytestmark = pytest.mark.usefixtures("own_home")
SETTINGS = {"authorizer.class.name": STANDARD_AUTHORIZER, "super.users": "User:admin"}


@pytest.fixture(scope="module")
def guarded() -> Iterator[SandboxThread]:
    with SandboxThread(fast=False, sasl=("PLAIN",), users=USERS, config=SETTINGS) as running:
        prepare(librdkafka(running))
        yield running


@pytest.mark.parametrize("kind", KINDS)
def test_with_all_it_runs_and_with_one_less_it_fails_as_printed(kind: str, guarded: SandboxThread) -> None:
    prove(kind, librdkafka(guarded, "alice"), partial(grant, guarded.bootstrap, password_of(guarded)))


def test_what_the_cluster_has_is_compared(guarded: SandboxThread) -> None:
    command = ("check", "acl", "processor", *WHO, *KINDS["processor"].arguments)
    cluster = ("--command-config", str(guarded.client_properties("admin")))
    items = needed_rules("processor")
    grant(guarded.bootstrap, password_of(guarded), items)
    assert eosctl(*command, *cluster).code == 0
    grant(guarded.bootstrap, password_of(guarded), items[1:])
    done = eosctl(*command, *cluster)
    assert done.code == 3
    assert done.out.count("kafka-acls.sh") == 1
    assert "--transactional-id app- --resource-pattern-type prefixed" in done.out


def test_unreadable_rules_give_no_verdict(guarded: SandboxThread) -> None:
    grant(guarded.bootstrap, password_of(guarded), [])
    command = ("check", "acl", "producer", *WHO, *KINDS["producer"].arguments)
    done = eosctl(*command, "--command-config", str(guarded.client_properties("alice")))
    assert done.code == 4
    assert "CLUSTER_AUTHORIZATION_FAILED" in done.out
