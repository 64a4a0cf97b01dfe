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


WIPED = CORRUPTED.replace(
    "Detected the states of tasks [1_10] are corrupted",
    "stream-task [1_10] State store core did not find checkpoint offsets while stores are not empty, since under EOS "
    "it has the risk of getting uncommitted data in stores we have to treat it as a task corruption error and wipe out "
    "the local state of task 1_10 before re-bootstrapping",
)
RUNNING = (
    f"[2026-05-06 02:21:30,000] INFO {THREAD} State transition from PARTITIONS_ASSIGNED to RUNNING "
    "(org.apache.kafka.streams.processor.internals.StreamThread)\n"
)


@pytest.mark.parametrize(
    ("text", "seconds", "said"),
    [
        (WIPED + BEGUN + OPEN + ENDED + RUNNING, 96, "ran again at 2026-05-06T02:21:30"),
        (WIPED + BEGUN + OPEN + ENDED, 15, "restored the last store at 2026-05-06T02:20:09"),
        (WIPED + BEGUN + OPEN + LATER, 0, ""),
    ],
    ids=["runs again", "restored", "open"],
)
def test_a_wiped_store_says_when_its_program_ran_again(text: str, seconds: int, said: str, tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"app.log": text})
    assert found.root_cause == "unclean-stop-wipes-store"
    assert found.t_end_ms - found.t_start_ms == seconds * 1000
    assert said in found.explanation
    assert ("ran again" in found.explanation) == ("ran again" in said)
