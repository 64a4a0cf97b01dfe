"""A consumer that never polls again keeps its group in a rebalance, which doctor reports."""

from __future__ import annotations

import pytest
from confluent_kafka import Consumer

from eosctl.testing import SandboxThread
from tests.commands.conftest import eosctl
from tests.interop.conftest import create_topic

pytestmark = pytest.mark.usefixtures("own_home")


def judged(bootstrap: str) -> tuple[str, str]:
    """Return the state of the check, and all that the run says."""
    done = eosctl("check", "run", "EOS-GRP-012", "-b", bootstrap, "-o", "json", "--exit-zero")
    (check,) = done.json["checks"]
    return check["status"], done.out


@pytest.mark.parametrize(("protocol", "state"), [("classic", "PreparingRebalance"), ("consumer", "Reconciling")])
def test_a_member_that_does_not_poll_is_found(protocol: str, state: str) -> None:
    with SandboxThread(brokers=1) as kafka:
        create_topic(kafka.bootstrap, "orders", 2)
        settings = {"bootstrap.servers": kafka.bootstrap, "group.id": "app", "group.protocol": protocol}
        blocked, other = Consumer(settings), Consumer(settings)
        blocked.subscribe(["orders"])
        while not blocked.assignment():
            blocked.poll(0.1)
        assert judged(kafka.bootstrap)[0] == "passed"
        other.subscribe(["orders"])
        while f'"{state}"' not in eosctl("group", "list", "-b", kafka.bootstrap, "-o", "json").out:
            other.poll(0.1)
        status, said = judged(kafka.bootstrap)
        assert status == "failed"
        assert f"app has been in a rebalance ({state})" in said
        blocked.close()
        while not other.assignment():
            other.poll(0.1)
        assert judged(kafka.bootstrap)[0] == "passed"
        other.close()
