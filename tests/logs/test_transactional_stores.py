"""What logs of Kafka Streams 4.4.0 report of stores after a kill, with transactional state stores and without."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.incident import Incident
from tests.logs.judging import judge

RECORDED = Path(__file__).parents[1] / "fixtures" / "logs-transactional-stores"


def incidents_of(directory: Path, name: str, *, without: str = "") -> list[Incident]:
    """Return the incidents of a recorded log, without the lines that have a word."""
    lines = (RECORDED / name).read_text("utf-8").splitlines(keepends=True)
    return judge(directory, {name: "".join(line for line in lines if not without or without not in line)})


def test_a_kill_keeps_transactional_stores(tmp_path: Path) -> None:
    (found,) = incidents_of(tmp_path, "kept.log")
    assert (found.kind, found.root_cause) == ("unclean_stop", "unclean-stop")
    assert "kept the stores of 2 of 2 changelogs, and restored 28,984 records" in found.explanation


def test_nothing_is_kept_where_the_log_is_silent(tmp_path: Path) -> None:
    (found,) = incidents_of(tmp_path, "kept.log", without="initialized from checkpoint")
    assert "changelogs" not in found.explanation


def test_a_kill_wipes_other_stores(tmp_path: Path) -> None:
    (found,) = incidents_of(tmp_path, "wiped.log")
    assert (found.kind, found.root_cause) == ("task_corrupted", "unclean-stop-wipes-store")
    assert "91,201 records" in found.explanation
    assert "enable.transactional.statestores=true" in found.next_step


def test_a_store_that_was_left_open_is_a_loop(tmp_path: Path) -> None:
    """Five rounds within two seconds are a loop as well: 386 were counted in two minutes."""
    (found,) = incidents_of(tmp_path, "refused.log")
    assert (found.kind, found.root_cause) == ("task_corrupted", "corruption-loop")
    assert found.subject["tasks"] == ("0_0", "0_1")
    assert "refuses it without wiping it" in found.explanation
    assert "below state.dir" in found.next_step


@pytest.mark.parametrize(("without", "damaged"), [("", False), ("Column families", True)])
def test_stores_of_a_newer_release_are_not_damaged(tmp_path: Path, without: str, damaged: bool) -> None:
    (found,) = incidents_of(tmp_path, "downgraded.log", without=without)
    assert (found.kind, found.root_cause) == ("state_store_corrupt", "corrupt-state-store")
    assert ("local files are damaged" in found.explanation) is damaged
    assert ("Kafka Streams 4.3 or later wrote it" in found.explanation) is not damaged
