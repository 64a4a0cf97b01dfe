"""Runbooks on real Kafka: the same endings, and the changes that they make are taken."""

from __future__ import annotations

import asyncio
from pathlib import Path

from eosctl.lab.apache.engine import ApacheEngine
from eosctl.lab.scenarios.hanging import run_hanging
from eosctl.lab.scenarios.zombie import run_zombie
from tests.apache.conftest import VerificationOff, running
from tests.runbooks.conftest import BLOCKED, MANUAL, NO_ACTION, VERIFIED, item_of, own_home, play, run
from tests.runbooks.test_groups import commit, open_transaction

__all__ = ["own_home"]


def test_a_hanging_transaction_is_ended(apache: ApacheEngine, partition_verification_off: VerificationOff) -> None:
    name = f"runbook-{apache.name.replace(' ', '-')}"
    with partition_verification_off(apache):
        report = play(apache.bootstrap, run_hanging, topic=name, transactional_id=name, patience_ms=10_000)
    aim = ("-i", f"topic={report.partition.topic}", "-i", f"partition={report.partition.partition}")
    unasked = run(apache.bootstrap, "hanging-transaction", *aim, "--yes")
    assert unasked.code == BLOCKED, unasked.err
    done = run(apache.bootstrap, "hanging-transaction", *aim, "--yes", "--confirm", str(report.partition))
    assert (done.code, item_of(done)["acted"]) == (VERIFIED, True), done.err
    assert run(apache.bootstrap, "hanging-transaction", *aim).code == NO_ACTION


def test_a_broker_goes_and_comes_back_and_the_feature_is_raised(tmp_path: Path) -> None:
    with running("4.3.1", tmp_path / "kafka", node_count=3, transaction_version=1) as kafka:
        play(kafka.bootstrap, run_zombie)
        asyncio.run(kafka.kill(2))
        lost = run(kafka.bootstrap, "min-isr-lost", "--yes")
        assert (lost.code, item_of(lost)["step"]) == (MANUAL, "bring_back"), lost.err
        refused = run(kafka.bootstrap, "transaction-version-upgrade", "--yes")
        assert (refused.code, item_of(refused)["step"]) == (BLOCKED, "all_up"), refused.err
        asyncio.run(kafka.restart(2))
        back = run(kafka.bootstrap, "min-isr-lost", "--yes", "--resume", item_of(lost)["run"])
        assert (back.code, item_of(back)["outcome"]) == (VERIFIED, "verified"), back.err
        raised = run(kafka.bootstrap, "transaction-version-upgrade", "--yes", "--confirm", "transaction.version=2")
        assert (raised.code, item_of(raised)["acted"]) == (VERIFIED, True), raised.err

        async def held() -> None:
            async with open_transaction(kafka.bootstrap):
                await asyncio.to_thread(unstable)
            await commit(kafka.bootstrap, "app", 99)
            await asyncio.to_thread(out_of_range)

        def unstable() -> None:
            group = ("-i", "group=app", "--yes", "--confirm", "mover")
            done = run(kafka.bootstrap, "unstable-offsets", *group)
            assert (done.code, item_of(done)["acted"]) == (VERIFIED, True), done.err

        def out_of_range() -> None:
            group = ("-i", "group=app", "--yes", "--confirm", "app")
            done = run(kafka.bootstrap, "offsets-out-of-range", *group)
            assert (done.code, item_of(done)["acted"]) == (VERIFIED, True), done.err
            assert "orders-0: 99 -> 4" in done.err

        asyncio.run(held())
