"""Steps that start and stop brokers, change settings, and cut links."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
from typing import Final

from eosctl.client.destinations import Role
from eosctl.client.outcome import any_error, error_for_code
from eosctl.errors import ConfigFileError
from eosctl.lab.apache.brokers import BrokerState
from eosctl.lab.rehearsals.clusters import RehearsalCluster
from eosctl.model.emulation import FULL_RELEASE
from eosctl.sandbox.controller.features import FEATURES
from eosctl.sandbox.network import FaultAction, LinkFault
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages import update_features
from eosctl.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from eosctl.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)

SHUTDOWN_TIMEOUT_S: Final = 10
POLL_S: Final = 0.1
_TOPIC: Final = 2
_BROKER: Final = 4
_SET: Final = 0
_UPGRADE: Final = 1


async def kill_broker(cluster: RehearsalCluster, *, broker: int) -> None:
    """Kill a broker like kill -9."""
    if cluster.engine is not None:
        await cluster.engine.kill(broker)
        return
    cluster.inside.kill(broker)


async def stop_broker(cluster: RehearsalCluster, *, broker: int) -> None:
    """Shut a broker down cleanly: its leaderships move first."""
    if cluster.engine is not None:
        await cluster.engine.stop(broker)
        return
    handed_over = asyncio.Event()
    cluster.inside.core.broker(broker).lifecycle.shut_down(handed_over.set)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(handed_over.wait(), SHUTDOWN_TIMEOUT_S)
    cluster.inside.core.stop_node(broker, clean=True)
    cluster.inside.disconnect_clients(broker)


async def start_broker(cluster: RehearsalCluster, *, broker: int) -> None:
    """Start a broker on its files; return once it serves."""
    if cluster.engine is not None:
        await cluster.engine.restart(broker)
        return
    cluster.inside.restart(broker)
    node = cluster.inside.core.nodes[broker].broker
    while node is None or not node.is_ready:
        await asyncio.sleep(0.05)


async def upgrade(cluster: RehearsalCluster, *, node: int, release: str = "4.3") -> None:
    """Shut a broker or controller (100) down, and start it on its files with another release (3.9, 4.3)."""
    if release not in FEATURES:
        raise ConfigFileError(
            f"There is no release {release}.", f"There are: {', '.join(FEATURES)}.", "Name one of them in the scenario."
        )
    if cluster.engine is not None:
        if node in cluster.engine.data_dirs():  # A controller is upgraded with the broker of its node.
            await cluster.engine.stop(node)
            await cluster.engine.install(node, FULL_RELEASE[release])
            await cluster.engine.restart(node)
        return
    core = cluster.inside.core
    if node in core.broker_ids:
        await stop_broker(cluster, broker=node)
        core.install(node, release)
        await start_broker(cluster, broker=node)
    else:
        core.stop_node(node, clean=True)
        core.install(node, release)
        core.start_node(node)


async def start_empty_broker(cluster: RehearsalCluster, *, broker: int) -> None:
    """Start a broker with a replaced disk: the same id, without files."""
    directory = cluster.inside.core.directory_of(broker)
    directory.rename(directory.with_name(f"{directory.name}-lost"))
    await start_broker(cluster, broker=broker)


async def kill_controller(cluster: RehearsalCluster) -> None:
    """Kill the single controller like kill -9; elections and registrations stop."""
    core = cluster.inside.core
    core.stop_node(core.controller_ids[0], clean=False)


async def start_controller(cluster: RehearsalCluster) -> None:
    """Start the controller on its files."""
    core = cluster.inside.core
    core.start_node(core.controller_ids[0])


async def cut_link(cluster: RehearsalCluster, *, source: int, destination: int) -> None:
    """Drop every frame from one node to another, until links are repaired."""
    cluster.inside.core.network.add_fault(LinkFault(FaultAction.DROP, source=source, destination=destination))


async def cut_api(cluster: RehearsalCluster, *, api: str) -> None:
    """Drop every request of one API between nodes, until links are repaired."""
    key = ApiKey[api]
    cluster.inside.core.network.add_fault(LinkFault(FaultAction.DROP, api_key=key, requests=True))


async def mend_links(cluster: RehearsalCluster) -> None:
    """Deliver every frame again."""
    cluster.inside.core.network.heal()


async def pass_time(cluster: RehearsalCluster, *, ms: int) -> None:
    """Advance the time."""
    await asyncio.sleep(ms / 1000)


async def set_brokers(cluster: RehearsalCluster, *, name: str, value: str) -> None:
    """Set a dynamic setting of all brokers; return once each of them reports it."""
    await _alter(cluster, _BROKER, "", name, value)
    for broker in (await cluster.client.refresh_metadata()).brokers:
        while await _reported(cluster, broker.node_id, name) != value:
            await asyncio.sleep(POLL_S)


async def _reported(cluster: RehearsalCluster, broker_id: int, name: str) -> str | None:
    asked = DescribeConfigsRequest([DescribeConfigsResource(_BROKER, str(broker_id), [name])])
    answer = await cluster.client.request(broker_id, ApiKey.DESCRIBE_CONFIGS, asked)
    if code := any_error(answer):
        raise error_for_code(code, f"DescribeConfigs of broker {broker_id}")
    return next((entry.value for result in answer.results for entry in result.configs), None)


async def raise_feature(cluster: RehearsalCluster, *, feature: str, level: int) -> None:
    """Finalize a level of a feature as another administrator."""
    update = update_features.FeatureUpdateKey(feature, level, False, _UPGRADE)
    request = update_features.UpdateFeaturesRequest(cluster.client.config.request_timeout_ms, [update], False)
    answer = await cluster.client.request(Role.CONTROLLER, ApiKey.UPDATE_FEATURES, request, floor=1)
    codes = [answer.error_code, *(result.error_code for result in answer.results or ())]
    failed = next((code for code in codes if code), None)
    if failed is not None:
        raise error_for_code(failed, f"UpdateFeatures {feature}={level} ({answer.error_message or ''})")


async def set_topic(cluster: RehearsalCluster, *, topic: str, name: str, value: str) -> None:
    """Change a setting of a topic."""
    await _alter(cluster, _TOPIC, topic, name, value)


async def _alter(cluster: RehearsalCluster, kind: int, resource: str, name: str, value: str) -> None:
    change = AlterConfigsResource(kind, resource, [AlterableConfig(name, _SET, value)])
    answer = await cluster.client.request(
        Role.CONTROLLER, ApiKey.INCREMENTAL_ALTER_CONFIGS, IncrementalAlterConfigsRequest([change])
    )
    if code := any_error(answer):
        raise error_for_code(code, f"Setting {name}={value}")


async def skew_clock(cluster: RehearsalCluster, *, broker: int, ms: int) -> None:
    """Set a broker's clock forward, or back if negative."""
    cluster.inside.core.nodes[broker].runtime.skew_ms = ms


async def start_killed(cluster: RehearsalCluster) -> None:
    """Start every stopped broker on its files."""
    if cluster.engine is not None:
        for handle in cluster.engine.brokers():
            if handle.state is BrokerState.STOPPED:
                await cluster.engine.restart(handle.broker_id)
        return
    core = cluster.inside.core
    for broker in core.broker_ids:
        if broker not in core.nodes:
            await start_broker(cluster, broker=broker)


async def fail_disk(cluster: RehearsalCluster, *, broker: int, directory: int = 1) -> None:
    """Fail a log directory of a broker; a broker without its first one halts."""
    core = cluster.inside.core
    core.broker(broker).logs.all[directory - 1].fail(OSError(errno.EIO, os.strerror(errno.EIO)))
    if broker not in core.nodes:
        cluster.inside.disconnect_clients(broker)
