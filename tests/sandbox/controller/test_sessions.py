"""A silent broker is fenced, but not one that was silent because no node ran."""

from __future__ import annotations

from pathlib import Path

from eosctl.sandbox.core import ClusterShape
from eosctl.wire.messages.internal.metadata.broker_registration_change_record import BrokerRegistrationChangeRecord
from tests.sandbox.harness import Harness

CONTROLLER = 100
SETTINGS = {"broker.session.timeout.ms": "2000", "broker.heartbeat.interval.ms": "500"}


def fenced(harness: Harness) -> list[int]:
    """Return which brokers were fenced so far, in order."""
    controller = harness.core.nodes[CONTROLLER].controller
    assert controller is not None
    return [
        record.broker_id
        for batch in controller.log.batches()
        for record in batch.records
        if isinstance(record, BrokerRegistrationChangeRecord) and record.fenced == 1
    ]


def test_a_moment_in_which_no_node_ran_fences_no_broker(tmp_path: Path) -> None:
    harness = Harness(tmp_path, ClusterShape(3, settings=SETTINGS))
    for _ in range(5):
        harness.advance(3_000)
        harness.loop.stand_still(30)
    harness.advance(10_000)
    assert fenced(harness) == []
    harness.close()


def test_a_dead_broker_is_fenced_at_the_end_of_its_session(tmp_path: Path) -> None:
    harness = Harness(tmp_path, ClusterShape(3, settings=SETTINGS))
    harness.advance(3_000)
    harness.kill(2)
    harness.advance(1_500)
    harness.loop.stand_still(30)
    harness.advance(300)
    assert fenced(harness) == []
    harness.advance(1_000)
    assert fenced(harness) == [2]
    harness.close()
