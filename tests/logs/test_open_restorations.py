"""A corrupted task whose restoration is still open at the end of the log: without a recovery, it is an incident."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

THREAD = "stream-thread [ledger-1-StreamThread-2]"
CORRUPTED = (
    f"[2026-05-06 02:19:54,000] WARN {THREAD} Detected the states of tasks [1_10] are corrupted. Will close the task "
    "as dirty and re-create and bootstrap from scratch. (org.apache.kafka.streams.processor.internals.StreamThread)\n"
)
BEGUN = (
    f"[2026-05-06 02:19:58,000] INFO {THREAD} stream-task [1_10] State store core did not find checkpoint offset, "
    "hence would default to the starting offset at changelog ledger-core-changelog-10 "
    "(org.apache.kafka.streams.processor.internals.ProcessorStateManager)\n"
)
OPEN = (
    f"[2026-05-06 02:20:08,000] INFO {THREAD} Restoration in progress for 1 partitions. "
    "(org.apache.kafka.streams.processor.internals.StoreChangelogReader)\n"
)
ENDED = (
    f"[2026-05-06 02:20:09,000] INFO {THREAD} Finished restoring changelog ledger-core-changelog-10 to store core with "
    "a total number of 41000 records (org.apache.kafka.streams.processor.internals.StoreChangelogReader)\n"
)
LATER = "[2026-05-06 02:20:12,000] INFO Processed 5 records (shop.Ledger)\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CORRUPTED + BEGUN + OPEN, ["task_corrupted"]),
        (CORRUPTED + BEGUN + OPEN + ENDED + LATER, []),
        (CORRUPTED + OPEN + LATER, []),
    ],
    ids=["open", "ended", "not begun"],
)
def test_a_restoration_counts_while_it_is_open(text: str, expected: list[str], tmp_path: Path) -> None:
    assert [one.kind for one in judge(tmp_path, {"app.log": text})] == expected
