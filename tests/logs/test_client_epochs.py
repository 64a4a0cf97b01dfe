"""A client whose epoch is over does not know why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eosctl.logs.incidents.judge import judge_incidents
from eosctl.logs.scan import scan_paths

OLD_EPOCH_OF_A_GO_CLIENT = {
    "level": "error",
    "ts": 1795168801.2,
    "msg": "produce failed",
    "error": "INVALID_PRODUCER_EPOCH: Producer attempted an operation with an old epoch.",
}
OLD_EPOCH_OF_SARAMA = (
    "[sarama] 2026/11/20 10:00:01 kafka: Failed to produce message to topic orders: kafka server: "
    "The producer attempted to produce with an old epoch"
)


@pytest.mark.parametrize("line", [json.dumps(OLD_EPOCH_OF_A_GO_CLIENT), OLD_EPOCH_OF_SARAMA], ids=["go", "sarama"])
def test_a_client_alone_cannot_know_why_its_epoch_is_over(line: str, tmp_path: Path) -> None:
    (tmp_path / "writer.log").write_text(f"{line}\n")
    (found,) = judge_incidents(scan_paths([tmp_path]).events)
    assert found.confidence == 0.5
    assert found.subject == {"application": "writer"}
    assert "transaction.timeout.ms" in found.explanation
