"""How changed values take effect, by Kafka's own list."""

from __future__ import annotations

import pytest

from eosctl.knowledge.parameter_tables import load_tables
from eosctl.knowledge.update_modes import explain_update, load_update_modes


@pytest.mark.parametrize(
    ("component", "name", "expected"),
    [
        ("broker", "transaction.max.timeout.ms", "after a restart of the broker"),
        ("broker", "producer.id.expiration.ms", "without a restart, cluster-wide"),
        ("broker", "listeners", "without a restart, per-broker"),
        ("broker", "advertised.listeners", "without a restart, per-broker (3.9; otherwise after a restart)"),
        ("topic", "min.insync.replicas", "at once, for the topic"),
        ("producer", "transaction.timeout.ms", "after a restart"),
    ],
)
def test_how_a_change_counts(component: str, name: str, expected: str) -> None:
    assert explain_update(component, name) == expected


def test_the_list_knows_only_settings_of_brokers_and_the_mode_never_changes() -> None:
    modes = load_update_modes()
    broker = load_tables()["broker"].parameters
    assert set(modes) == {"3.9", "4.3"}
    never_in_a_file = {
        "follower.replication.throttled.rate",
        "leader.replication.throttled.rate",
        "replica.alter.log.dirs.io.max.bytes.per.second",
    }
    assert {name for found in modes.values() for name in found} - set(broker) == never_in_a_file
    assert {name for name in modes["3.9"] if modes["4.3"].get(name, modes["3.9"][name]) != modes["3.9"][name]} == set()
