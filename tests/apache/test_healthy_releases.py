"""On a healthy cluster of every release of real Kafka, under ordinary load, doctor reports nothing above information.

`make prove incidents` plays every release.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.lab.apache.releases import RELEASES
from tests.apache.conftest import FULL_DISK
from tests.apache.ordinary_load import ordinary_load
from tests.commands.conftest import eosctl, own_home
from tests.settings.filled_profiles import filled

__all__ = ["own_home"]
ALL = "EOSCTL_INCIDENTS"
#: Always: the oldest one, which fewest tests play otherwise.
SOME = ("3.3.2",)
#: As often as an operator runs doctor during one incident call; transactions are open differently each time.
RUNS = 3


@pytest.mark.parametrize("version", RELEASES if os.environ.get(ALL) else SOME)
def test_nothing_above_information(
    version: str,
    apache_running: Callable[..., AbstractContextManager[ApacheNodes]],
    tmp_path: Path,
    own_home: Path,
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
        listed = eosctl("txn", "hanging", "-b", engine.bootstrap, "-o", "json")
        assert (listed.code, listed.json["items"]) == (0, [])
