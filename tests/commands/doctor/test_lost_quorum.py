"""A cluster that has lost most of its controllers: critical, and nothing that rests on frozen metadata has passed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from eosctl.checks.broker.broker_fenced import broker_fenced
from eosctl.checks.operations.leaders_not_preferred import leaders_not_preferred
from eosctl.checks.operations.quorum_of_two import quorum_of_two
from eosctl.checks.operations.replicas_out_of_sync import replicas_out_of_sync
from eosctl.checks.topic.partition_under_min_isr import partition_under_min_isr
from eosctl.checks.topic.partition_without_leader import partition_without_leader
from eosctl.sandbox.cluster import EmbeddedCluster
from tests.commands.conftest import eosctl

LOST = "EOS-OPS-010"
#: Checks of frozen evidence, or of what only the controller knows.
UNPROVEN = (
    partition_without_leader,
    partition_under_min_isr,
    replicas_out_of_sync,
    leaders_not_preferred,
    quorum_of_two,
    broker_fenced,
)


def diagnose(bootstrap: str) -> dict[str, Any]:
    """Return the checks of a run by their ids; only a silence of several seconds is that of the controllers."""
    done = eosctl("doctor", "-b", bootstrap, "--timeout", "12s", "-o", "json", "--exit-zero")
    return {check["id"]: check for check in done.json["checks"]} | {"grade": done.json["grade"], "text": done.out}


def test_a_lost_majority_is_critical_and_the_loss_of_one_is_not(tmp_path: Path) -> None:
    async def scenario() -> tuple[dict[str, Any], dict[str, Any]]:
        async with EmbeddedCluster(brokers=2, controllers=3, fast=True, data_dir=tmp_path) as embedded:
            cluster, commands = embedded.cluster, embedded.cluster.commands()
            led = cluster.status()["controller"]
            await commands["kill-broker"]({"broker": led})
            one_less = await asyncio.to_thread(diagnose, cluster.bootstrap)
            await commands["kill-broker"]({"broker": next(one for one in (100, 101, 102) if one != led)})
            await commands["kill-broker"]({"broker": 2})
            while cluster.status()["controller"] is not None:
                await asyncio.sleep(0)
            return one_less, await asyncio.to_thread(diagnose, cluster.bootstrap)

    one_less, lost = asyncio.run(scenario())
    assert one_less[LOST]["status"] == "passed"
    assert lost[LOST]["status"] == "failed"
    assert lost["grade"]["letter"] == "F"
    assert {lost[check.id]["status"] for check in UNPROVEN} == {"skipped"}
    assert "frozen" in lost[partition_without_leader.id]["reason"]
    assert "leader-election" not in lost["text"]
    assert "broker-replacement" not in lost["text"]
