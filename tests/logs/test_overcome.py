"""What a report of logs without an incident says about its errors and warnings."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.render.logs.verdict import headline
from eosctl.services.mine_logs import MineRequest, mine_logs

REBALANCE = (
    '{{"level":"ERROR","timestamp":"2026-04-07T09:{}Z","logger":"kafkajs","message":"[Connection] Response '
    'Heartbeat(key: 12, version: 3)","groupId":"carts","error":"The group is rebalancing, so a rejoin is needed"}}\n'
)
JOINED = (
    '{{"level":"INFO","timestamp":"2026-04-07T09:{}Z","logger":"kafkajs","message":"[ConsumerGroup] Consumer has '
    'joined the group","groupId":"carts"}}\n'
)
WORK = '{{"level":"INFO","timestamp":"2026-04-07T09:{}Z","logger":"carts","message":"processed 31 carts"}}\n'


@pytest.mark.parametrize(
    ("log", "text"),
    [
        (
            REBALANCE.format("00:01.100") + JOINED.format("00:04.100"),
            "their program was ready again after its last one",
        ),
        (REBALANCE.format("00:01.100") + WORK.format("00:09.100"), "their program worked again after its last one"),
        (JOINED.format("00:00.100") + REBALANCE.format("00:01.100"), "that they did was not checked"),
    ],
)
def test_the_headline_reports_what_followed(log: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "carts.log").write_text(log)
    found = mine_logs(MineRequest((tmp_path / "carts.log",))).findings
    assert not found.incidents and text in headline(found)


def test_each_program_must_recover(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(REBALANCE.format("00:01.100") + WORK.format("00:09.100"))
    (tmp_path / "b.log").write_text(REBALANCE.format("00:01.300"))
    assert "1 of 2 programs did" in headline(mine_logs(MineRequest((tmp_path,))).findings)
