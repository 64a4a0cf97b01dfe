"""Random conversations: a real broker responds to each step as the sandbox does."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from eosctl.lab.apache.nodes import ApacheNodes
from scripts.transcript_runner.improvising import differences_on, improvise, kinds_of
from scripts.transcript_runner.scenario import TARGETS, Target

#: ``make prove conversations`` holds many more.
COUNT = int(os.environ.get("EOSCTL_CONVERSATIONS", "12"))
RELEASES = {"3.9": "3.9.2", "4.3": "4.3.1", "4.4": "4.4.0"}
COMPARED = [target for target in TARGETS if target.release in RELEASES]
#: One level of transaction.version of each release; `make prove conversations` and `make prove real-kafka` have all.
EACH_TIME = {"3.9-tv0", "4.3-tv1", "4.4-tv2"}


@pytest.mark.parametrize(
    "target",
    [
        pytest.param(target, id=target.name, marks=() if target.name in EACH_TIME else pytest.mark.long)
        for target in COMPARED
    ],
)
def test_a_real_broker_answers_as_the_sandbox(
    target: Target, apache_running: Callable[..., AbstractContextManager[ApacheNodes]], tmp_path: Path
) -> None:
    with apache_running(
        RELEASES[target.release], tmp_path / "kafka", transaction_version=target.transaction_version
    ) as broker:
        for kind in kinds_of(target):
            conversations = list(improvise(kind, target, range(COUNT), tmp_path / kind.area))
            assert sum(len(conversation.steps) for conversation in conversations) > 20 * COUNT
            differing = differences_on(broker.bootstrap, conversations, target)
            assert {outcome.scenario.name: outcome.differences[0] for outcome in differing} == {}
