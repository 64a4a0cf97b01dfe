"""The settings of the group coordinator, read from the broker's configuration on each use."""

from __future__ import annotations

from typing import NamedTuple

from eosctl.sandbox.ports import BrokerConfig, Emulation

NEW_MEMBER_JOIN_TIMEOUT_MS = 5 * 60 * 1000
"""Time in milliseconds after which a new member with a held JoinGroup counts as disconnected."""


class ClassicConfig(NamedTuple):
    """Limits and delays of classic groups (`group.*` of the broker)."""

    min_session_timeout_ms: int = 6_000
    max_session_timeout_ms: int = 1_800_000
    initial_rebalance_delay_ms: int = 3_000
    max_size: int = 2**31 - 1
    is_3_9: bool = False


def read_classic_config(config: BrokerConfig, emulation: Emulation) -> ClassicConfig:
    """Read the settings of classic groups."""
    return ClassicConfig(
        min_session_timeout_ms=config.get_int("group.min.session.timeout.ms"),
        max_session_timeout_ms=config.get_int("group.max.session.timeout.ms"),
        initial_rebalance_delay_ms=config.get_int("group.initial.rebalance.delay.ms"),
        max_size=config.get_int("group.max.size"),
        is_3_9=emulation.is_3_9,
    )
