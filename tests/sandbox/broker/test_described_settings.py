"""DescribeConfigs of every setting, compared with the answers of fresh brokers of each release.

The recording has no documentation, since Kafka's own text is not in the project. The recorded brokers and the sandbox
have settings of their own (`server.properties`, shorter timers): only their values and the entries for them may differ.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from eosctl.model.emulation import RELEASES
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import Emulation
from eosctl.sandbox.settings import ConfigSource
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from eosctl.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from tests.sandbox.harness import Harness

Described = dict[str, dict[str, Any]]

PROTOCOL = Path(__file__).resolve().parents[2] / "fixtures" / "protocol"
RECORDED = json.loads(gzip.decompress((PROTOCOL / "settings-described.json.gz").read_bytes()))
RESOURCES = {"topic": (2, "t"), "broker": (4, "1"), "group": (32, "g")}
CASES = [(release, kind) for release in RELEASES for kind in RECORDED[release]]
_STATE_TOPIC = "share.coordinator.state.topic"
#: Settings of the recorded broker that its release does not have.
UNKNOWN_TO_RELEASE = {"3.9": {f"{_STATE_TOPIC}.min.isr", f"{_STATE_TOPIC}.replication.factor"}}


def described(folder: Path, release: str, kind: str, *, documented: bool = False) -> Described:
    harness = Harness(folder, ClusterShape(emulation=Emulation(release)))
    topic = CreateTopicsRequest([CreatableTopic("t", 1, 1)], 30_000, False)
    harness.request(1, ApiKey.CREATE_TOPICS, 7, topic)
    harness.advance(500)
    request = DescribeConfigsRequest([DescribeConfigsResource(*RESOURCES[kind], None)], True, documented)
    answer = harness.request(1, ApiKey.DESCRIBE_CONFIGS, 4, request)
    harness.close()
    settings = msgspec.to_builtins(answer.results[0].configs)
    return {setting["name"]: setting for setting in settings}


def recorded(release: str, kind: str) -> Described:
    left_out = UNKNOWN_TO_RELEASE.get(release, set())
    return {setting["name"]: setting for setting in RECORDED[release][kind] if setting["name"] not in left_out}


def comparable(setting: dict[str, Any], *, is_own: bool) -> dict[str, Any]:
    """Return what must be equal: without values and sources where one of the two has a setting of its own."""
    if not is_own:
        return setting
    kept = {key: setting[key] for key in ("name", "config_type", "read_only", "is_sensitive")}
    return kept | {"defaults": [entry for entry in setting["synonyms"] if entry["source"] == ConfigSource.DEFAULT]}


def is_static(setting: dict[str, Any]) -> bool:
    return any(entry["source"] == ConfigSource.STATIC_BROKER for entry in setting["synonyms"])


@pytest.mark.parametrize(("release", "kind"), CASES)
def test_settings_are_those_of_the_release(tmp_path: Path, release: str, kind: str) -> None:
    want, got = recorded(release, kind), described(tmp_path, release, kind)
    assert {setting.pop("documentation") for setting in got.values()} == {None}
    assert set(got) == set(want)
    own = {name for name in want if is_static(want[name]) or is_static(got[name])}
    assert len(own) < len(want) / 5
    different = {
        name: (want[name], got[name])
        for name in want
        if comparable(want[name], is_own=name in own) != comparable(got[name], is_own=name in own)
    }
    assert different == {}


@pytest.mark.parametrize("kind", RESOURCES)
def test_the_documentation_has_the_facts_of_a_setting(tmp_path: Path, kind: str) -> None:
    found = described(tmp_path, "4.3", kind, documented=True)
    plain = [name for name, setting in found.items() if setting["config_type"] and setting["documentation"] is None]
    assert plain == []
    facts = {
        "topic": ("cleanup.policy", "Type: list; Default: delete; Valid values: [compact, delete]; "),
        "broker": ("ssl.key.password", "Type: password; Update mode: per-broker"),
        "group": ("share.isolation.level", "Type: string; Default: read_uncommitted; "),
    }
    name, begin = facts[kind]
    assert found[name]["documentation"].startswith(begin)
