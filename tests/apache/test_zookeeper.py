"""doctor on real clusters with ZooKeeper: no false alarm, and a hanging transaction is found and ended.

2.8 is the last release that does not list transactions, 3.7 verifies partitions. `EOSCTL_ZOOKEEPER_RELEASES` names
others, such as ``3.3.2 3.5.2``, of those that the lab has jars of.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

import pytest

from eosctl.lab.apache.jars import resolve_jars
from eosctl.lab.apache.java import find_java
from eosctl.lab.apache.releases import RELEASES, KafkaRelease, resolve_release
from eosctl.lab.engine import MissingTool
from tests.apache.conftest import FULL_DISK, VERIFICATION
from tests.apache.libraries import library
from tests.apache.test_doctor_truth import work
from tests.apache.zookeeper import PATIENCE_S, broker_with_zookeeper
from tests.commands.conftest import eosctl, run_scenario
from tests.lab.scenarios.stage.hanging import run_hanging

pytestmark = pytest.mark.usefixtures("own_home")
VERSIONS: Final = os.environ.get("EOSCTL_ZOOKEEPER_RELEASES", "2.8.2 3.7.2").split()
RECENT: Final = "3.7.2"
"""What it has beyond 2.8, other tests judge on KRaft, so it is played only by `make prove real-kafka`."""
NO_QUORUM: Final = {"EOS-OPS-002", "EOS-OPS-010"}
"""What needs a quorum of controllers; EOS-OPS-003 as well from 3.3 on."""
NO_LIST: Final = {"EOS-GRP-001", "EOS-OPS-014"}
"""What asks the coordinators for their transactions, and has no other evidence before 3.0."""


def release_of(version: str) -> KafkaRelease:
    return RELEASES.get(version) or library(f"kafka-{version}", f"org.apache.kafka:kafka_2.13:{version}")


@pytest.mark.parametrize(
    "version",
    [pytest.param(version, marks=pytest.mark.long if version == RECENT else ()) for version in VERSIONS],
)
def test_a_hanging_transaction_is_found_and_ended(version: str, tmp_path: Path) -> None:
    try:
        java, jars = find_java(resolve_release("4.3.1")), resolve_jars(release_of(version))
    except MissingTool as missing:
        pytest.skip(f"{missing.tool} is missing: {missing.what}")
    branch = tuple(map(int, version.split(".")[:2]))
    has_verification = branch >= (3, 6)
    settings = {VERIFICATION: "false"} if has_verification else {}
    with broker_with_zookeeper(java, jars, tmp_path, settings) as bootstrap:
        work(bootstrap).close()
        healthy = eosctl("doctor", "-b", bootstrap, "-o", "json")
        warned = {item["check_id"] for item in healthy.json["items"] if item["severity"] != "info"}
        # Verification is off only for what is to come.
        assert warned - {FULL_DISK} == ({"EOS-BRK-002"} if has_verification else set()), healthy.out
        assert not any(item["check_id"] == "EOS-TXN-001" for item in healthy.json["items"])
        gaps = {check["id"] for check in healthy.json["checks"] if check["status"] == "skipped"}
        known = (NO_LIST if branch < (3, 0) else set()) | ({"EOS-OPS-003"} if branch >= (3, 3) else set())
        assert gaps == NO_QUORUM | known, healthy.json["checks"]

        hanging = run_scenario(
            bootstrap,
            lambda stage: run_hanging(stage, topic="late-orders", transactional_id="late", patience_ms=10_000),
        )
        wait_until_certain(bootstrap)
        found = eosctl("doctor", "-b", bootstrap, "-o", "json")
        assert found.code == 3, found.out
        (finding,) = [item for item in found.json["items"] if item["check_id"] == "EOS-TXN-001"]
        assert finding["severity"] == "critical"
        assert finding["resource"]["name"] == str(hanging.partition)
        assert finding["facts"]["producer_id"] == hanging.producer.producer_id
        assert finding["facts"]["first_offset"] == hanging.first_offset
        assert finding["facts"]["can_abort"] is True

        where = ("--topic", hanging.partition.topic, "--partition", str(hanging.partition.partition))
        (done,) = eosctl("txn", "abort", *where, "-b", bootstrap, "--yes", "-o", "json").json["items"]
        assert (done["carried_out"], done["verified"]) == (True, True)
        assert eosctl("txn", "hanging", "--all", "-b", bootstrap, "-o", "json").json["items"] == []


def wait_until_certain(bootstrap: str) -> None:
    """Look until it hangs: before 3.0 the record of the transaction's end must get older than clocks may differ."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        listed = eosctl("txn", "hanging", "--all", "-b", bootstrap, "-o", "json").json["items"]
        if [item["status"] for item in listed] == ["hanging"]:
            return
        assert time.monotonic() < deadline, listed
