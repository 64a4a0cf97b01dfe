"""Logs without times: the order of their lines shows what lasts, and no time is made up."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.logs.judging import judge

LOST = "Heartbeat session expired - marking coordinator dead\n"
REFUSED = (
    "OffsetCommit failed for group quotes due to group error ([Error 25] UnknownMemberIdError: quotes), will rejoin\n"
)
JOINING = "(Re-)joining group quotes\n"
ACCESS = '10.7.0.4 - - [03/Mar/2022:10:{}:00 +0100] "GET /ready HTTP/1.1" 200 2\n'
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")


def outcome(tmp_path: Path, text: str) -> str:
    (found,) = judge(tmp_path, {"quotes.log": text})
    return f"{found.explanation} {found.next_step}"


def test_refusals_to_the_last_line_have_not_ended(tmp_path: Path) -> None:
    text = outcome(tmp_path, LOST + REFUSED * 6)
    assert "It still failed when its log ended: 6 times, last in quotes.log:7." in text
    assert "does not rejoin by itself" in text and not STAMP.search(text)


def test_a_member_that_is_joining_is_not_stuck(tmp_path: Path) -> None:
    text = outcome(tmp_path, LOST + REFUSED * 6 + JOINING)
    assert "It began to join again in quotes.log:8" in text and "by itself" not in text


def test_lines_far_behind_the_last_refusal_leave_it_open(tmp_path: Path) -> None:
    text = outcome(tmp_path, LOST + REFUSED * 6 + "quote 7 sent to the desk\n" * 200)
    assert "still failed when its log ended" not in text


@pytest.mark.parametrize(
    ("before", "after", "is_bound"), [("01", "02", True), ("02", "01", False), ("61", "62", False)]
)
def test_access_lines_bound_the_beginning(before: str, after: str, is_bound: bool, tmp_path: Path) -> None:
    text = outcome(tmp_path, ACCESS.format(before) + LOST + REFUSED * 5 + ACCESS.format(after))
    assert ("between 2022-03-03T09:01:00.000Z and 2022-03-03T09:02:00.000Z" in text) is is_bound
    assert is_bound or not STAMP.search(text)
