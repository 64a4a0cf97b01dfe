"""The vetted configurations are what they say they are."""

from __future__ import annotations

import pytest

from eosctl.checks.judge import judge
from eosctl.findings.linted import findings_of
from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Deployment, Role
from eosctl.settings.clusters.vetted_profiles import VettedProfile, load_vetted_profiles
from eosctl.settings.deployment.deployment_files import read_components

# What linting each must find; the development broker is what production must not be.
EXPECTED = {
    "broker-eos-development": {"EOS-CFG-032", "EOS-CFG-035", "EOS-CFG-036"},
}
PROFILES = load_vetted_profiles()
# The job's own setting, in a file next to its connector's.
OF_THE_JOB = {"execution.checkpointing.interval"}


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
def test_a_profile_raises_exactly_what_is_expected(profile: VettedProfile) -> None:
    parts = tuple(read_components(profile.file, profile.text))
    assert parts
    found = {finding.check_id for finding in findings_of(judge(Deployment(parts, load_tables())))}
    assert found == EXPECTED.get(profile.name, set())


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
def test_a_profile_names_only_settings_that_exist(profile: VettedProfile) -> None:
    tables = load_tables()
    for component in read_components(profile.file, profile.text):
        table = tables.get(component.role.value)
        if table is None or component.inside is not None:
            continue
        known = set(table.parameters) | {
            name for client in ("producer", "consumer") for name in tables[client].parameters
        }
        known |= set(tables["librdkafka"].parameters) | set(tables["librdkafka"].aliases)
        if component.role is Role.MIRROR_MAKER:  # its file configures the workers too
            known |= set(tables["connect-worker"].parameters)
        unknown = {
            name
            for name in component.given
            if not any(tail in known for tail in tails(name)) and table.declared(name) is None
        }
        unknown -= OF_THE_JOB
        assert unknown == set(), component.role


def tails(name: str) -> list[str]:
    """Return a name and what is left of it without its first parts: prefixes of clusters and clients."""
    parts = name.split(".")
    return [".".join(parts[start:]) for start in range(len(parts))]


def test_profiles_say_what_they_are_for() -> None:
    assert len(PROFILES) >= 13
    assert [profile.name for profile in PROFILES if not profile.intent and not profile.file.endswith(".json")] == []
