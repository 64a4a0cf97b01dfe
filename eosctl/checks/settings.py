"""Settings as brokers and topics report them, with provenance."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from eosctl.findings.finding import Command
from eosctl.model.setting import Setting, SettingSource
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.verdict import Evidence
from eosctl.text import name_some


class BrokerValue(NamedTuple):
    """One broker's value of a setting."""

    broker_id: int
    setting: Setting

    @property
    def evidence(self) -> Evidence:
        """The value with its provenance."""
        source = self.setting.origin or f"broker {self.broker_id}"
        return Evidence(self.setting.name, f"{self.setting.value} ({self.setting.source.value})", source)


def broker_values(snapshot: ClusterSnapshot, name: str) -> tuple[BrokerValue, ...]:
    """Return each broker's value of a setting, by broker id; brokers that did not report it are left out."""
    return tuple(
        BrokerValue(broker.node_id, setting)
        for broker in sorted(snapshot.brokers, key=lambda b: b.node_id)
        if (setting := broker.setting(name)) is not None
    )


def set_on_all_brokers(values: Iterable[BrokerValue], name: str, value: str, bootstrap: str) -> tuple[Command, ...]:
    """Return the commands that give a dynamic setting one value on all brokers.

    A value of a single broker stands before the default of all brokers, so it is removed after the default is set.

    Args:
        values: What the brokers report (`broker_values`).
        name: The setting, which must be dynamic for the whole cluster.
        value: The value that all brokers get.
        bootstrap: What follows `--bootstrap-server`.
    """
    alter = f"kafka-configs.sh --bootstrap-server {bootstrap} --alter --entity-type brokers"
    own = [str(found.broker_id) for found in values if found.setting.source is SettingSource.DYNAMIC_BROKER]
    commands = [Command(f"{alter} --entity-default --add-config {name}={value}")]
    if own:
        broker = own[0] if len(own) == 1 else "$broker"
        remove = f"{alter} --entity-name {broker} --delete-config {name}"
        line = remove if len(own) == 1 else f"for broker in {' '.join(own)}; do {remove}; done"
        commands.append(Command(line, f"the own value of {name_some('broker', own)} stands before the default"))
    return tuple(commands)


def number(setting: Setting | None) -> int | None:
    """Return a setting's value as a number, or None if it is missing or not a number."""
    if setting is None or setting.value is None:
        return None
    try:
        return int(setting.value)
    except ValueError:
        return None
