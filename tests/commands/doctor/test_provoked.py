"""Mistakes that were really made on a sandbox are found by the checks that name them."""

from __future__ import annotations

from eosctl.testing import SandboxThread
from tests.checks.mistakes import SETTINGS, make_mistakes
from tests.commands.conftest import eosctl

FOUND = {
    "EOS-BRK-008",
    "EOS-BRK-010",
    "EOS-GRP-002",
    "EOS-GRP-003",
    "EOS-GRP-004",
    "EOS-SEC-001",
    "EOS-SEC-002",
    "EOS-SEC-003",
    "EOS-SEC-005",
    "EOS-TOP-006",
    "EOS-TOP-011",
    "EOS-UPG-002",
}


def test_mistakes_are_found() -> None:
    with SandboxThread(brokers=1, config=SETTINGS) as cluster:
        make_mistakes(cluster.bootstrap)
        done = eosctl("doctor", "-b", cluster.bootstrap, "-o", "json", "--exit-zero")
    assert done.code == 0, done.err
    assert {item["check_id"] for item in done.json["items"]} >= FOUND
