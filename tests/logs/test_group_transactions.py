"""A group of Redpanda that holds an earlier transaction: only the requests that fail with it are its effects."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

REFUSED = (
    "WARN  2026-01-21 11:32:{second:02},215 [shard 3] tx - [N:rides S:Stable G:8] group.cc:1808 - can't begin a tx "
    "{{producer_identity: id=51, epoch=4}} with tx_seq 9: a producer id is already involved in a tx with tx_seq 2\n"
)
FAILED = "2026-01-21 11:{minute}:{second:02},245 ERROR app.Rides - {words}: UNKNOWN_SERVER_ERROR\n"
COMMIT = "unable to commit transaction offsets"


def kinds(folder: Path, minute: int, words: str = COMMIT) -> list[str]:
    client = "".join(FAILED.format(minute=minute, second=second, words=words) for second in (10, 20, 30))
    node = "".join(REFUSED.format(second=second) for second in (10, 20, 30))
    return sorted(one.kind for one in judge(folder, {"rides.log": client, "redpanda.log": node}))


def test_failed_commits_are_effects_of_the_group(tmp_path: Path) -> None:
    assert kinds(tmp_path, 32) == ["transaction_not_completed"]


@pytest.mark.parametrize(("minute", "words"), [(50, COMMIT), (32, "unable to create the topic")])
def test_other_failed_requests_are_faults_of_their_own(minute: int, words: str, tmp_path: Path) -> None:
    assert kinds(tmp_path, minute, words) == ["request_failed", "transaction_not_completed"]
