"""Runs many scenarios: one cluster for each target and profile, as the recordings were made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.harness import Harness
from eosctl.sandbox.ports import Emulation
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.find_coordinator import FindCoordinatorRequest
from scripts.transcript_runner.conversation import BROKER, Conversation, Outcome
from scripts.transcript_runner.scenario import PROFILES, SETTINGS, Scenario, Target

GROUP, TRANSACTION = 0, 1


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
