"""A node of Redpanda that does not answer its peers, and single answers that come too late."""

from __future__ import annotations

from pathlib import Path

from tests.logs.judging import judge

SILENT = (
    "INFO  2026-02-03 09:{:02}:{:02},100 [shard 0:main] rpc - transport.cc:214 - RPC timeout (100 ms) to {{host: "
    "192.0.2.{}, port: 33145}}, method: node_status_rpc::node_status, correlation id: 90110, 1 in flight\n"
)
REFUSED = (
    "WARN  2026-02-03 09:{:02}:{:02},201 [shard 1:main] tx - tx_gateway_frontend.cc:2522 - abort_tx on consumer groups "
    "tx:{{cut-tx-7}} etag:61 pid:{{producer_identity: id=707, epoch=9}} tx_seq:2 status:4 in term:36 failed with "
    "tx::errc::{}\n"
)


def silent(node: int, *minutes: int) -> str:
    return "".join(SILENT.format(minute, second, node) for minute in minutes for second in range(0, 60, 10))


def test_a_node_that_does_not_answer_is_the_cause(tmp_path: Path) -> None:
    for error in ("timeout", "not_coordinator"):
        refused = "".join(REFUSED.format(1, second, error) for second in (1, 12, 33, 55))
        (one,) = judge(tmp_path / error, {"redpanda.log": silent(7, 0) + refused + silent(7, 2)})
        assert (one.kind, one.subject["server"], one.subject["transactional.id"]) == (
            "node_not_reached",
            "192.0.2.7",
            "cut-tx-7",
        )


def test_single_late_answers_stay_silent(tmp_path: Path) -> None:
    assert judge(tmp_path, {"redpanda.log": "".join(SILENT.format(minute, 0, 7) for minute in range(0, 60, 10))}) == []


def test_a_short_silence_is_ignored(tmp_path: Path) -> None:
    assert judge(tmp_path, {"redpanda.log": "".join(SILENT.format(0, second, 7) for second in range(9))}) == []
