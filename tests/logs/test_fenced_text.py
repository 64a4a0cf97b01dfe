"""Logs of containers in a block of code, with text around it, are read as those of their containers."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.logs.carriers.prefixes import within_fences
from eosctl.logs.scan import scan_paths

LINES = (
    "app-1   | 2026-04-02 11:20:35,118 INFO  [main] StreamsConfig values: \n"
    "app-1   | \tapplication.id = store\n"
    "kafka-1 | [2026-04-02 11:20:36,820] INFO [TransactionCoordinator id=1] Elected as the txn coordinator for "
    "partition 22 at epoch 0 (kafka.coordinator.transaction.TransactionCoordinator)\n"
    "app-1   | 2026-04-02 11:21:37,440 WARN  [main] task [0_0] Timeout exception caught trying to initialize "
    "transactions. Will retry initializing the task in the next loop.\n"
)
PROSE = "# It hangs\n\nOne broker in compose, and a program that uses exactly-once.\nThis is the output:\n\n"


@pytest.mark.parametrize("fence", ["```", "~~~", "```text"])
def test_text_around_a_block_of_code_keeps_its_containers(fence: str, tmp_path: Path) -> None:
    (tmp_path / "issue.txt").write_text(f"{PROSE}{fence}\n{LINES}{fence.rstrip('tex')}\n\nAny idea?\n")
    events = scan_paths([tmp_path]).events
    assert {(one.application, one.line) for one in events} >= {("app-1", 7), ("kafka-1", 9), ("app-1", 10)}
    assert "Any idea" not in "".join(one.message for one in events)


def test_only_blocks_with_times_are_compared() -> None:
    text = [b"A", b"```yaml", b"image: kafka", b"```", b"B", b"```", b"app | 11:20:35 up", b"```"]
    assert within_fences(text) == [b"app | 11:20:35 up"]
    assert within_fences([b"A", b"```", b"image: kafka", b"```"]) == [b"A", b"```", b"image: kafka", b"```"]
