"""Metrics as evidence of a diagnosis: alone, and in part."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.conftest import eosctl
from tests.monitoring.endpoints import Answer, served

pytestmark = pytest.mark.usefixtures("own_home")
CLEANER = 'kafka_log_LogCleaner_Value{{name="DeadThreadCount"}} {}\n'
LATE = 'kafka_server_ReplicaManager_Value{{name="PartitionsWithLateTransactionsCount"}} {}\n'


def test_metrics_alone_are_diagnosed(tmp_path: Path) -> None:
    with served(lambda _: Answer(CLEANER.format(1) + LATE.format(2))) as url:
        done = eosctl("doctor", "--metrics", url + "/metrics", "-o", "json", "--save-snapshot", tmp_path / "s.json")
    assert done.code == 3
    found = {one["check_id"]: one for one in done.json["items"]}
    assert found.keys() == {"EOS-OPS-009", "EOS-TXN-012"}
    assert found["EOS-TXN-012"]["evidence"][0]["source"] == url + "/metrics"
    again = eosctl("doctor", "--snapshot", tmp_path / "s.json", "-o", "json")
    assert {one["check_id"] for one in again.json["items"]} >= found.keys()


def test_programs_that_are_well_and_one_that_is_silent() -> None:
    with served(lambda _: Answer(CLEANER.format(0) + LATE.format(0))) as url:
        well = eosctl("doctor", "--metrics", url + "/metrics", "-o", "json")
        partial = eosctl(
            "doctor", "--metrics", url + "/metrics", "--metrics", "http://127.0.0.1:1/metrics", "--require-complete"
        )
    assert well.code == 0
    assert {one["id"]: one["status"] for one in well.json["checks"]}["EOS-OPS-009"] == "passed"
    assert partial.code == 4
    assert "http://127.0.0.1:1/metrics" in partial.out + partial.err
