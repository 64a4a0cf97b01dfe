"""A broker leaves and returns: the run waits, stops for a manual step, and continues there; scenarios have the rest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from eosctl.testing import SandboxThread
from tests.lab.scenarios.stage.zombie import run_zombie
from tests.runbooks.conftest import MANUAL, NO_ACTION, VERIFIED, item_of, play, run


@pytest.fixture
def cluster() -> Iterator[SandboxThread]:
    """Three brokers that have seen transactions."""
    with SandboxThread(brokers=3, fast=False, config={"auto.leader.rebalance.enable": "false"}) as started:
        play(started.bootstrap, run_zombie)
        yield started


def handed_over(cluster: SandboxThread, book: str, at: str, *options: str) -> str:
    """Run a runbook up to where it hands over, and return the run."""
    done = run(cluster.bootstrap, book, "--yes", *options)
    item = item_of(done)
    assert (done.code, item["outcome"], item["step"], item["resumable"]) == (MANUAL, "manual", at, True), done.err
    return str(item["run"])


def finished(cluster: SandboxThread, book: str, run_id: str) -> Any:
    done = run(cluster.bootstrap, book, "--yes", "--resume", run_id)
    assert (done.code, item_of(done)["outcome"]) == (VERIFIED, "verified"), done.err
    assert run(cluster.bootstrap, "post-incident", "--yes").code == VERIFIED
    return item_of(done)


def test_a_lost_broker_is_named_awaited_and_leads_again(cluster: SandboxThread) -> None:
    assert run(cluster.bootstrap, "min-isr-lost").code == NO_ACTION
    cluster.kill_broker(2)
    run_id = handed_over(cluster, "min-isr-lost", "bring_back")
    cluster.start_broker(2)
    item = finished(cluster, "min-isr-lost", run_id)
    assert "elect" in [told["step"] for told in item["steps"]]
    assert item["acted"]
    for book in ("coordinator-skew", "transaction-log-under-replicated", "coordinator-not-available", "min-isr-lost"):
        assert run(cluster.bootstrap, book).code == NO_ACTION, book
    assert run(cluster.bootstrap, "controller-failover", "--yes").code == VERIFIED

    again = run(cluster.bootstrap, "min-isr-lost", "--yes", "--resume", run_id)
    assert again.code == 2
    assert "has ended: verified" in again.err
    other = run(cluster.bootstrap, "post-incident", "--yes", "--resume", run_id)
    assert other.code == 2
    assert "belongs to runbook min-isr-lost" in other.err
