"""The settings of streams groups, read from the broker's configuration and the group's own on each use."""

from __future__ import annotations

from eosctl.sandbox.coordinator.group.host import GroupHost
from eosctl.sandbox.coordinator.group.streams.rebalance import StreamsConfig
from eosctl.sandbox.group_settings import RACK_TAGS, group_int, group_list


def read_streams_config(host: GroupHost, group_id: str) -> StreamsConfig:
    """Read the settings of a streams group; its own override the broker's. 4.3 lacks those of tags and offsets."""
    own, read_int = host.metadata.group_settings(group_id), host.config.get_int
    is_before_4_4 = host.emulation.is_before_4_4
    config = StreamsConfig(
        session_timeout_ms=group_int(own, "streams.session.timeout.ms", read_int),
        heartbeat_interval_ms=group_int(own, "streams.heartbeat.interval.ms", read_int),
        assignment_interval_ms=group_int(own, "streams.assignment.interval.ms", read_int),
        initial_rebalance_delay_ms=group_int(own, "streams.initial.rebalance.delay.ms", read_int),
        standby_count=group_int(own, "streams.num.standby.replicas", read_int),
        max_size=read_int("group.streams.max.size"),
        is_before_4_4=is_before_4_4,
    )
    if is_before_4_4:
        return config
    return config._replace(
        rack_tags=group_list(own, RACK_TAGS, host.config.get_str),
        task_offset_interval_ms=group_int(own, "streams.task.offset.interval.ms", read_int),
        acceptable_recovery_lag=group_int(own, "streams.acceptable.recovery.lag", read_int),
    )
