"""Run many scenarios: on one cluster per target and profile, as recorded, or on a running one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import Emulation
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.find_coordinator import FindCoordinatorRequest
from eosctl.wire.messages.init_producer_id import InitProducerIdRequest
from eosctl.wire.messages.offset_fetch import OffsetFetchRequest
from scripts.transcript_runner.conversation import BROKER, Conversation, Outcome
from scripts.transcript_runner.scenario import DEFAULT_PROFILE, PROFILES, SETTINGS, Scenario, Target
from scripts.transcript_runner.sockets import SocketCluster
from tests.sandbox.harness import Harness

GROUP, TRANSACTION = 0, 1
ENOUGH_KEYS = 30  # Enough to reach each of the five partitions of both topics.
WARM_UP_TRIES, WARM_UP_PAUSE_MS = 600, 100


def open_cluster(target: Target, profile: str, data_dir: Path) -> Harness:
    """Start a one-node cluster like the recorded one, with its internal topics."""
    settings = {**SETTINGS, **PROFILES[profile]}
    emulation = Emulation(target.release, settings.get("unstable.api.versions.enable") == "true")
    harness = Harness(data_dir, ClusterShape(1, emulation, target.transaction_version, settings))
    for key_type in (GROUP, TRANSACTION):
        harness.request(BROKER, ApiKey.FIND_COORDINATOR, 1, FindCoordinatorRequest("warm-up", key_type))
    harness.advance(100)
    return harness


def run_scenarios(scenarios: Iterable[Scenario], target: Target, data_dir: Path) -> Iterator[Outcome]:
    """Run the scenarios that were recorded for a target."""
    chosen = [scenario for scenario in scenarios if target.name in scenario.targets]
    for profile in PROFILES:
        of_profile = [scenario for scenario in chosen if scenario.profile == profile]
        if of_profile:
            harness = open_cluster(target, profile, data_dir / f"{target.name}-{profile}")
            for number, scenario in enumerate(of_profile):
                yield Conversation(harness, scenario, target, f"{number:04x}").run()
            harness.close()


def play_on(bootstrap: str, scenarios: Iterable[Scenario], target: Target, at_once: int = 1) -> Iterator[Outcome]:
    """Run the scenarios without a profile on a running, fresh broker; yield their outcomes in order.

    Args:
        bootstrap: Its address.
        scenarios: The scenarios; each has names of its own, so they can run at the same time.
        target: What the broker is.
        at_once: How many run at the same time. Most of their time is waiting.
    """
    chosen = [each for each in scenarios if target.name in each.targets and each.profile == DEFAULT_PROFILE]
    with SocketCluster(bootstrap) as cluster:
        await_coordinators(cluster)
        run = f"{cluster.now_ms():x}"

    def play(number: int, scenario: Scenario) -> Outcome:
        with SocketCluster(bootstrap) as cluster:
            return Conversation(cluster, scenario, target, f"{run}{number:04x}").run()

    with ThreadPoolExecutor(at_once) as pool:
        yield from pool.map(play, range(len(chosen)), chosen)


def await_coordinators(cluster: SocketCluster) -> None:
    """Create the internal topics and wait until every coordinator serves, so that no scenario needs retries.

    Raises:
        TimeoutError: A coordinator does not become ready.
    """
    waiting = [f"warm-up-{number}" for number in range(ENOUGH_KEYS)]
    for _ in range(WARM_UP_TRIES):
        waiting = [key for key in waiting if not _coordinators_serve(cluster, key)]
        if not waiting:
            return
        cluster.advance(WARM_UP_PAUSE_MS)
    raise TimeoutError(f"no coordinator of {waiting[0]} came up")


def _coordinators_serve(cluster: SocketCluster, key: str) -> bool:
    for key_type in (GROUP, TRANSACTION):
        cluster.request(BROKER, ApiKey.FIND_COORDINATOR, 1, FindCoordinatorRequest(key, key_type))
    offsets = cluster.request(BROKER, ApiKey.OFFSET_FETCH, 5, OffsetFetchRequest(key, []))
    ids = cluster.request(BROKER, ApiKey.INIT_PRODUCER_ID, 1, InitProducerIdRequest(key, 1000))
    return not offsets.error_code and not ids.error_code
