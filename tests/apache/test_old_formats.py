"""Clients from before 0.11 on a running 3.9.2 broker, as recorded."""

from __future__ import annotations

import json
from pathlib import Path

from eosctl.lab.apache.nodes import ApacheNodes
from scripts.transcript_runner.sockets import SocketCluster
from tests.sandbox.broker.old_format_conversation import Conversation

RECORDED = Path(__file__).parents[1] / "fixtures" / "sandbox" / "old-formats-3.9.json"


def test_old_formats_are_still_as_recorded(apache_3_9: ApacheNodes) -> None:
    with SocketCluster(apache_3_9.bootstrap) as cluster:
        steps = json.loads(json.dumps(Conversation(cluster).run()))
    assert steps == json.loads(RECORDED.read_text())
