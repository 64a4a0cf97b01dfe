"""Mistakes that were really made on a sandbox are found by the checks that name them."""

from __future__ import annotations

from eosctl.testing import SandboxThread
from tests.checks.mistakes import FOUND, SETTINGS, make_mistakes
from tests.commands.conftest import eosctl


def test_mistakes_are_found() -> None:
    with SandboxThread(brokers=1, config=SETTINGS) as cluster:
        make_mistakes(cluster.bootstrap)
        done = eosctl("doctor", "-b", cluster.bootstrap, "-o", "json", "--exit-zero")
    assert done.code == 0, done.err
    assert {item["check_id"] for item in done.json["items"]} >= FOUND
