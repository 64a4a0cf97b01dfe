"""``eosctl checklist run --ask``: ask a person for what is open, one item after the other."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from eosctl.checks.checklist import judge_measure, with_answers
from eosctl.model.checklist import Answer, ItemKind, ItemState

if TYPE_CHECKING:
    from eosctl.model.checklist import Checklist, ChecklistItem, ChecklistRecord

STATES: Final = {
    "yes": ItemState.DONE,
    "no": ItemState.FAILED,
    "n/a": ItemState.NOT_APPLICABLE,
}
LEAVE: Final = "q"


class _Enough(Exception):  # noqa: N818 - nothing is wrong
    """The person wants to stop, or the input has ended."""


def ask_people(
    checklist: Checklist,
    record: ChecklistRecord,
    who: str,
    now_text: Callable[[], str],
    keep: Callable[[ChecklistRecord], None],
) -> ChecklistRecord:
    """Ask for every open item that a person can answer; each answer is kept before the next question.

    Args:
        checklist: The list.
        record: What is known.
        who: Who answers.
        now_text: The moment, as records have it.
        keep: Writes the record.
    """
    items = list(_for_people(checklist, record))
    try:
        for number, item in enumerate(items, 1):
            _say(f"\n{number} of {len(items)}  {item.title}\n  why     {item.why}\n  if not  {item.fix}")
            found = _manual() if item.kind is ItemKind.MANUAL else _measured(item)
            if found is None:
                continue
            answer = Answer(item.id, *found, who, now_text())
            record = replace(record, answers=with_answers(record, checklist, [answer]))
            keep(record)
    except _Enough:
        _say("What was answered is kept; run the same again to go on.")
    return record


def _for_people(checklist: Checklist, record: ChecklistRecord) -> Iterator[ChecklistItem]:
    for item in checklist.items:
        answer = record.answer(item.id)
        if item.kind is not ItemKind.AUTOMATIC and (answer is None or answer.state is ItemState.OPEN):
            yield item


def _manual() -> tuple[ItemState, str] | None:
    while text := _read(f"yes, no or n/a, then a note (Enter leaves it open, {LEAVE} stops): "):
        word, _, remark = text.replace(":", " ", 1).partition(" ")
        state = STATES.get(word.lower())
        if state is None:
            _say(f"  {text!r} begins with none of yes, no and n/a.")
            continue
        remark = remark.strip() or _read("note, what was seen or why it does not apply: ")
        if remark:
            return state, remark
        _say("  An answer without a note is none.")
    return None


def _measured(item: ChecklistItem) -> tuple[ItemState, str] | None:
    while text := _read(f"{item.limit} (Enter leaves it open, {LEAVE} stops): "):
        if text.isdecimal():
            return judge_measure(item, int(text))
        _say(f"  {text!r} is no whole number.")
    return None


def _read(prompt: str) -> str:
    sys.stderr.write(f"  {prompt}")
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line or line.strip().lower() == LEAVE:
        raise _Enough
    return line.strip()


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
