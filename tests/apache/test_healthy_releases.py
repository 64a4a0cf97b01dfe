"""On a healthy cluster of every release of real Kafka, under ordinary load, doctor reports nothing above information.

`make prove incidents` plays every release.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from eosctl.analysis.release import release_floor
from eosctl.collect.bundles.snapshot_file import load_snapshot
from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.lab.apache.releases import RELEASES
from tests.apache.conftest import FULL_DISK
from tests.apache.libraries import early_kafka
from tests.apache.ordinary_load import ordinary_load
from tests.commands.conftest import eosctl
from tests.settings.filled_profiles import filled

pytestmark = pytest.mark.usefixtures("own_home")
ALL = "EOSCTL_INCIDENTS"
#: Always: the oldest one, which fewest tests play otherwise.
SOME = ("3.3.2",)
#: As often as an operator runs doctor during one incident call; transactions are open differently each time.
RUNS = 3


#: Its brokers serve the versions of 3.3.
LIKE_EARLIER = {(3, 4): (3, 3)}
#: The lab does not offer them, as their KRaft was a preview.
EARLY = ("3.1.2", "3.2.3")


@pytest.fixture(autouse=True)
def early_releases(monkeypatch: pytest.MonkeyPatch) -> None:
    for version in EARLY:
        monkeypatch.setitem(RELEASES, version, early_kafka(version))


@pytest.mark.parametrize("version", [*EARLY, *RELEASES] if os.environ.get(ALL) else SOME)
def test_nothing_above_information(
    version: str,
    apache_running: Callable[..., AbstractContextManager[ApacheNodes]],
    tmp_path: Path,
) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text(f"suppressions: [{{id: {FULL_DISK}, reason: the disk of any test machine}}]")
    settings = filled("broker-eos-production")
    with (
        apache_running(version, tmp_path / "kafka", node_count=3, settings=settings) as engine,
        ordinary_load(engine.bootstrap) as load,
    ):
        for _ in range(RUNS):
            command = ("doctor", "-b", engine.bootstrap, "-o", "json", "--require-complete", "--rules", str(rules))
            done = eosctl(*command, "--fail-on", "warning")
            above = [(one["check_id"], one["message"]) for one in done.json["items"] if one["severity"] != "info"]
            assert above == []
            assert done.code == 0, (done.json["evidence"]["gaps"], done.err)
            assert done.json["counts"]["skipped"] == 0
            load.wait_for(3)
        kept = tmp_path / "snapshot.json"
        eosctl("doctor", "-b", engine.bootstrap, "--save-snapshot", kept)
        floors = {release_floor(broker) for broker in load_snapshot(kept).brokers}
        major, minor = map(int, version.split(".")[:2])
        assert floors == {LIKE_EARLIER.get((major, minor), (major, minor))}
        listed = eosctl("txn", "hanging", "-b", engine.bootstrap, "-o", "json")
        assert (listed.code, listed.json["items"]) == (0, [])
