"""sandbox fault, heal, and advance on a live sandbox, and their errors for invalid input."""

from __future__ import annotations

import json

import jsonschema

from tests.commands.conftest import eosctl
from tests.commands.test_sandbox import ROOT, up


def validate(result: object, shape: str) -> None:
    jsonschema.validate(result, json.loads((ROOT / "docs" / "schemas" / f"{shape}.json").read_text()))


def test_faults_come_and_go() -> None:
    done = up("--brokers", "1", "--ephemeral", "--ttl", "5m", "--emulate", "3.9", "--bug", "kafka-17507")
    assert done.code == 0, done.err
    try:
        told = eosctl("sandbox", "fault", "delay", "api=END_TXN", "ms=500", "count=1")
        assert (told.code, told.err) == (0, "")
        assert "end it: eosctl sandbox fault --end 1" in told.out
        shown = eosctl("sandbox", "fault", "-o", "json")
        validate(shown.json, "sandbox-faults")
        (item,) = shown.json["items"]
        assert item["active"][0]["fault"] == "delay from=clients api=END_TXN count=1 ms=500"
        bugs = {"high-watermark-truncation": False, "kafka-17507": True, "zombie-txn-offset-commit": True}
        assert item["bugs"] == bugs
        assert eosctl("sandbox", "fault", "--end", "1").code == 0
        assert eosctl("sandbox", "fault", "--end", "1").code == 2
        assert "0 active faults" in eosctl("sandbox", "fault").out
        refused = eosctl("sandbox", "fault", "kill", "node=9")
        assert (refused.code, refused.out) == (1, "")
        assert "There is no node 9" in refused.err
        assert "60 s passed" in eosctl("sandbox", "advance", "60s").out
        too_far = eosctl("sandbox", "advance", "3651d")
        assert (too_far.code, too_far.out) == (2, "")
        assert "at most 3650 d" in too_far.err
        assert "every node runs" in eosctl("sandbox", "heal").out
    finally:
        eosctl("sandbox", "down", "--all")


def test_an_invalid_fault_is_refused_before_any_connection() -> None:
    done = eosctl("sandbox", "fault", "explode")
    assert done.code == 2
    assert "Unknown fault 'explode'" in done.err
    kinds = eosctl("sandbox", "fault", "--kinds", "-o", "json")
    validate(kinds.json, "fault-kinds")
    assert "late-end-txn" in [item["kind"] for item in kinds.json["items"]]


def test_a_bug_that_the_release_cannot_have_is_refused() -> None:
    done = eosctl("sandbox", "up", "--bug", "kafka-17507")
    assert done.code == 2
    assert "--emulate 3.9" in done.err
