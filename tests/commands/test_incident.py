"""An incident from fault to repair, on a cluster with every random choice left open."""

from __future__ import annotations

import json
from pathlib import Path

from tests.commands.conftest import Broken, eosctl


def audit(home: Path) -> list[str]:
    lines = (home / "state" / "eosctl" / "audit.jsonl").read_text().splitlines()
    return [json.loads(line)["action"] for line in lines]


def test_diagnose_abort_verify(broken: Broken, own_home: Path) -> None:
    bootstrap = broken.cluster.bootstrap
    where = broken.hanging.partition

    found = eosctl("doctor", "-b", bootstrap, "-o", "json", "--save-snapshot", own_home / "evidence.json")
    assert found.code == 3
    findings = {item["check_id"]: item for item in found.json["items"]}
    worse = {check_id for check_id, item in findings.items() if item["severity"] != "info"}
    assert worse == {"EOS-TXN-001", "EOS-TXN-004", "EOS-BRK-002"}
    hanging = findings["EOS-TXN-001"]
    assert hanging["resource"]["name"] == str(where)
    assert hanging["facts"]["producer_id"] == broken.hanging.producer.producer_id
    assert hanging["facts"]["first_offset"] == broken.hanging.first_offset
    assert hanging["facts"]["invisible_records"] == (
        broken.hanging.late_record_count + broken.hanging.hidden_record_count
    )
    fenced = findings["EOS-TXN-004"]
    assert fenced["confidence"] == "certain"
    assert fenced["facts"]["fenced_epoch"] == broken.zombie.zombie.producer_epoch
    first, count = broken.zombie.aborted_first_offset, broken.zombie.aborted_record_count
    assert f"{broken.zombie.partition} offset {first} to {first + count - 1}" in fenced["impact"]

    listed = eosctl("txn", "hanging", "-b", bootstrap, "-o", "json")
    assert listed.code == 3
    assert [(item["topic"], item["partition"]) for item in listed.json["items"]] == [where]

    target = ["--topic", where.topic, "--partition", str(where.partition), "-b", bootstrap]
    plan = eosctl("txn", "abort", *target, "-o", "json", "--script", own_home / "abort.sh")
    assert plan.code == 0
    assert plan.json["items"][0]["carried_out"] is False
    assert "kafka-transactions.sh" in (own_home / "abort.sh").read_text()
    assert eosctl("txn", "hanging", "-b", bootstrap).code == 3

    done = eosctl("txn", "abort", *target, "--yes", "-o", "json")
    assert done.code == 0
    (item,) = done.json["items"]
    assert (item["carried_out"], item["verified"]) == (True, True)
    assert item["last_stable_offset_before"] == broken.hanging.first_offset
    assert item["last_stable_offset_after"] > broken.hanging.high_watermark
    assert audit(own_home) == [f"txn abort {step}" for step in ("planned", "declined", "planned", "begun", "done")]

    assert eosctl("txn", "hanging", "-b", bootstrap).code == 0
    again = eosctl("doctor", "-b", bootstrap, "-o", "json", "--fail-on", "critical")
    assert again.code == 0
    assert "EOS-TXN-001" not in {item["check_id"] for item in again.json["items"]}

    # The evidence of the first run still says what it said.
    replayed = eosctl("doctor", "--snapshot", own_home / "evidence.json", "-o", "json")
    assert replayed.json["items"] == found.json["items"]

    refused = eosctl("txn", "abort", *target, "--yes")
    assert refused.code == 2
    assert "No transaction is open on this partition" in refused.err
