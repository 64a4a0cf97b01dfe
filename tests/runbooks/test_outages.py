"""Brokers go and come back: the runbooks that wait for them, hand over, and go on where they stopped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from eosctl.lab.scenarios.zombie import run_zombie
from eosctl.testing import SandboxThread
from tests.runbooks.conftest import BLOCKED, MANUAL, NO_ACTION, VERIFIED, item_of, play, run


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


def test_a_lost_broker_is_named_waited_for_and_given_its_leaders_back(cluster: SandboxThread) -> None:
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
    assert "is of runbook min-isr-lost" in other.err


def test_the_transaction_log_waits_for_its_replicas(cluster: SandboxThread) -> None:
    cluster.kill_broker(3)
    run_id = handed_over(cluster, "transaction-log-under-replicated", "bring_back")
    cluster.start_broker(3)
    finished(cluster, "transaction-log-under-replicated", run_id)


def test_coordinators_are_given_back_after_a_restart(cluster: SandboxThread) -> None:
    cluster.stop_broker(1)
    cluster.start_broker(1)
    assert run(cluster.bootstrap, "controller-failover", "--yes").code == VERIFIED  # waits until all is in sync
    planned = run(cluster.bootstrap, "coordinator-skew")
    assert (planned.code, item_of(planned)["outcome"]) == (0, "planned"), planned.err
    done = run(cluster.bootstrap, "coordinator-skew", "--yes")
    assert (done.code, item_of(done)["acted"]) == (VERIFIED, True), done.err


def test_a_restart_is_gated_before_and_after(cluster: SandboxThread) -> None:
    run_id = handed_over(cluster, "rolling-restart", "restart", "-i", "broker=2")
    cluster.stop_broker(2)
    refused = item_of(run(cluster.bootstrap, "rolling-restart", "--yes", "-i", "broker=1"))
    assert (refused["outcome"], refused["step"]) == ("manual", "not_now")
    cluster.start_broker(2)
    finished(cluster, "rolling-restart", run_id)
    nobody = run(cluster.bootstrap, "rolling-restart", "--yes", "-i", "broker=9")
    assert (nobody.code, item_of(nobody)["step"]) == (BLOCKED, "is_there")


def test_an_upgrade_is_not_finalized_while_a_broker_is_away() -> None:
    with SandboxThread(brokers=3, fast=False, transaction_version=1) as cluster:
        cluster.stop_broker(3)
        blocked = run(cluster.bootstrap, "transaction-version-upgrade", "--yes")
        assert (blocked.code, item_of(blocked)["step"]) == (BLOCKED, "all_up"), blocked.err
        cluster.start_broker(3)
        assert run(cluster.bootstrap, "controller-failover", "--yes").code == VERIFIED
        done = run(cluster.bootstrap, "transaction-version-upgrade", "--yes", "--confirm", "transaction.version=2")
        assert (done.code, item_of(done)["outcome"]) == (VERIFIED, "verified"), done.err
        assert run(cluster.bootstrap, "transaction-version-upgrade").code == NO_ACTION
