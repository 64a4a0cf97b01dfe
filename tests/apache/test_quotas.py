"""The quotas that tests/sandbox/broker plays from a recording, on running brokers of each release."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eosctl.lab.apache.nodes import ApacheNodes
from scripts.transcript_runner.sockets import SocketCluster
from tests.sandbox.broker import request_quota_conversation
from tests.sandbox.broker.mutation_quota_conversation import Conversation

RECORDED = json.loads((Path(__file__).parents[1] / "fixtures" / "sandbox" / "quotas-4.3.json").read_text())
FIXTURES = ("apache_3_9", "apache_4_3", "apache_4_4")


def facts(steps: list[dict[str, Any]]) -> list[tuple[str, str, Any]]:
    """Return results without times, which the load of the machine changes, and without automatic creations."""
    return [(step["client"], step["api"], step["results"]) for step in steps if "results" in step]


@pytest.mark.parametrize("broker", FIXTURES)
def test_mutation_quotas_are_still_as_recorded(broker: str, request: pytest.FixtureRequest) -> None:
    apache: ApacheNodes = request.getfixturevalue(broker)
    with SocketCluster(apache.bootstrap) as cluster:
        steps = Conversation(cluster).run(creates_automatically=False)
    assert facts(steps) == facts(RECORDED["mutations"])


@pytest.mark.parametrize("broker", FIXTURES)
def test_request_quotas_are_still_as_recorded(broker: str, request: pytest.FixtureRequest) -> None:
    apache: ApacheNodes = request.getfixturevalue(broker)
    with SocketCluster(apache.bootstrap) as cluster:
        assert request_quota_conversation.play(cluster) == RECORDED["requests"]
