"""How changed values take effect, by Kafka's own list."""

from __future__ import annotations

import pytest

from eosctl.knowledge.parameter_tables import load_tables
from eosctl.knowledge.update_modes import READ_ONLY, explain_update, load_update_modes


@pytest.mark.parametrize(
    ("component", "name", "expected"),
    [
        ("broker", "transaction.max.timeout.ms", "after a restart of the broker"),
        ("broker", "producer.id.expiration.ms", "without a restart, cluster-wide"),
        ("broker", "listeners", "without a restart, per-broker"),
        ("broker", "advertised.listeners", "after a restart of the broker (before 4.0 without one, per-broker)"),
        (
            "broker",
            "remote.log.reader.threads",
            "without a restart, cluster-wide (since 4.0; before it after a restart)",
        ),
        ("topic", "min.insync.replicas", "immediately, for the topic"),
        ("producer", "transaction.timeout.ms", "after a restart"),
    ],
)
def test_how_a_change_counts(component: str, name: str, expected: str) -> None:
    assert explain_update(component, name) == expected


def test_only_broker_settings_are_listed_with_a_constant_mode() -> None:
    modes = load_update_modes()
    broker = load_tables()["broker"].parameters
    never_in_a_file = {
        "follower.replication.throttled.rate",
        "leader.replication.throttled.rate",
        "replica.alter.log.dirs.io.max.bytes.per.second",
    }
    assert set(modes.settings) - set(broker) == never_in_a_file
    assert {name for name, spans in modes.settings.items() if len({*spans.values()} - {READ_ONLY}) != 1} == set()
