"""The ACLs that `check acl doctor` prints are sufficient for a complete run, and all are necessary."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from eosctl.errors import ExitCode
from eosctl.sandbox.security.protocol import STANDARD_AUTHORIZER
from eosctl.services.connection import Connection
from eosctl.services.event_loop import run
from eosctl.testing import SandboxThread
from tests.commands.conftest import Done, own_home
from tests.sandbox.security.conftest import USERS, password_of
from tests.sandbox.security.own_rights import (
    RULES,
    SETTINGS,
    Rule,
    grant,
    names_right,
    run_doctor,
    use_everything,
)

__all__ = ["own_home"]

AUTHORIZER = {"authorizer.class.name": STANDARD_AUTHORIZER, "super.users": "User:admin"}


@pytest.fixture(scope="module")
def guarded() -> Iterator[SandboxThread]:
    with SandboxThread(fast=False, sasl=("PLAIN",), users=USERS, config=SETTINGS | AUTHORIZER) as running:
        run(lambda: use_everything(Connection(running.bootstrap, running.client_properties("admin"))))
        yield running


def doctor(sandbox: SandboxThread, rules: list[Rule]) -> Done:
    grant(sandbox.bootstrap, password_of(sandbox, "admin"), rules)
    return run_doctor(sandbox.bootstrap, sandbox.client_properties("alice"))


def test_exactly_these_rules_give_a_complete_run(guarded: SandboxThread) -> None:
    done = doctor(guarded, RULES)
    assert done.code is not ExitCode.INCOMPLETE, done.out
    assert "0 skipped" in done.out


@pytest.mark.parametrize("left_out", RULES, ids=lambda rule: f"{rule['resource_type']}-{rule['operation']}")
def test_one_rule_less_is_incomplete_and_named(guarded: SandboxThread, left_out: Rule) -> None:
    done = doctor(guarded, [rule for rule in RULES if rule is not left_out])
    assert done.code is ExitCode.INCOMPLETE, done.out
    assert names_right(done, left_out), done.out + done.err
