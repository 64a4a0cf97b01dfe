"""Vetted configurations with TLS and SASL: sound, in the format of their file, with every secret a placeholder."""

from __future__ import annotations

import json

import pytest
import yaml

from eosctl.checks.judge import judge
from eosctl.findings.linted import findings_of
from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Deployment, Role
from eosctl.settings.clusters.profile_security import Security, secured
from eosctl.settings.clusters.vetted_profiles import VettedProfile, load_vetted_profiles
from eosctl.settings.deployment.deployment_files import read_components
from tests.settings.test_vetted_profiles import EXPECTED

PROFILES = {profile.name: profile for profile in load_vetted_profiles()}
EACH = [pytest.param(profile, kind, id=f"{name}-{kind}") for name, profile in PROFILES.items() for kind in Security]


@pytest.mark.parametrize(("profile", "kind"), EACH)
def test_security_adds_no_finding(profile: VettedProfile, kind: Security) -> None:
    text = secured(profile, kind)
    parts = tuple(read_components(profile.file, text))
    found = {finding.check_id for finding in findings_of(judge(Deployment(parts, load_tables())))}
    assert found == EXPECTED.get(profile.name, set())
    secrets = [line for line in text.splitlines() if "password=" in line or "ecret=" in line or "sasl.password" in line]
    assert all("${" in line for line in secrets)


@pytest.mark.parametrize(("profile", "kind"), EACH)
def test_every_client_is_encrypted(profile: VettedProfile, kind: Security) -> None:
    parts = read_components(profile.file, secured(profile, kind))
    expected = {"SSL"} if kind in (Security.TLS, Security.MTLS) else {"SASL_SSL"}
    clients = [one for one in parts if one.role in (Role.PRODUCER, Role.CONSUMER)]
    for client in clients:
        assert {(client.word("security.protocol") or "").upper()} == expected
    if not clients:
        assert any(text in secured(profile, kind) for text in expected)


def test_formats_stay_what_they_are() -> None:
    spring = yaml.safe_load(secured(PROFILES["spring-kafka-eos"], Security.SASL_SCRAM))
    assert spring["spring"]["kafka"]["properties"]["sasl.mechanism"] == "SCRAM-SHA-512"
    assert spring["spring"]["kafka"]["consumer"]["isolation-level"] == "read_committed"
    flink = yaml.safe_load(secured(PROFILES["flink-exactly-once-sink"], Security.TLS))
    assert flink["properties.security.protocol"] == "SSL"
    librdkafka = json.loads(secured(PROFILES["librdkafka-transactional"], Security.MTLS))
    assert librdkafka["ssl.key.location"] == "${KEY_FILE}"
    worker = secured(PROFILES["connect-worker-eos-source"], Security.TLS)
    assert {"security.protocol=SSL", "producer.security.protocol=SSL", "admin.security.protocol=SSL"} <= set(
        worker.split()
    )
