"""Settings as brokers and topics report them, with provenance."""

from __future__ import annotations

from typing import NamedTuple

from eosctl.model.setting import Setting
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.verdict import Evidence


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


def number(setting: Setting | None) -> int | None:
    """Return a setting's value as a number, or None if it is missing or not a number."""
    if setting is None or setting.value is None:
        return None
    try:
        return int(setting.value)
    except ValueError:
        return None
