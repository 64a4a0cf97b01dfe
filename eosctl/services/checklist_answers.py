"""Collect the user's answers to the items of a checklist, from text or in a dialog."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.checks.checklist import judge_measure, with_answers
from eosctl.errors import UsageError
from eosctl.model.checklist import Answer, Checklist, ChecklistItem, ChecklistRecord, ItemKind, ItemState

LEAVE: Final = "q"
_STATES: Final = {"yes": ItemState.DONE, "no": ItemState.FAILED, "n/a": ItemState.NOT_APPLICABLE}


class Dialog(NamedTuple):
    """A user at a terminal.

    Attributes:
        say: Shows a text.
        read: Shows a prompt and returns the typed line; None at the end of the input.
        keep: Saves the record; called after each answer, before the next question.
    """

    say: Callable[[str], None]
    read: Callable[[str], str | None]
    keep: Callable[[ChecklistRecord], None]


class _Enough(Exception):  # noqa: N818 - nothing is wrong
    """The user stops, or the input has ended."""


def parse_answer(checklist: Checklist, text: str, who: str, at: str) -> Answer:
    """Return the answer to a manual item.

    Args:
        checklist: The list.
        text: ``ITEM=yes: NOTE``, ``no`` or ``n/a`` in place of ``yes``.
        who: Who answers.
        at: The time, RFC 3339.

    Raises:
        UsageError: The text names no manual item, or is not an answer with a note.
    """
    item, rest = _item(checklist, "--answer", text, ItemKind.MANUAL)
    word, _, remark = rest.partition(":")
    state = _STATES.get(word.strip().lower())
    if state is None or not remark.strip():
        raise UsageError(
            f"--answer {text!r} is not an answer.",
            "An answer is yes, no, or n/a, and a note: the observation, or why it does not apply.",
            f"E.g. --answer '{item.id}=yes: tried on staging'",
        )
    return Answer(item.id, state, remark.strip(), who, at)


def parse_measure(checklist: Checklist, text: str, who: str, at: str) -> Answer:
    """Return the answer to a measured item, of ``ITEM=NUMBER``; see `parse_answer`.

    Raises:
        UsageError: The text names no measured item, or is not a whole number.
    """
    item, value = _item(checklist, "--measure", text, ItemKind.MEASURED)
    if not value.strip().isdecimal():
        raise UsageError(f"--measure {text!r} is not a whole number.", "", f"E.g. --measure {item.id}=42")
    return Answer(item.id, *judge_measure(item, int(value)), who, at)


def _item(checklist: Checklist, option: str, text: str, kind: ItemKind) -> tuple[ChecklistItem, str]:
    name, equals, rest = text.partition("=")
    known = {item.id: item for item in checklist.items if item.kind is kind}
    if not equals or name.strip() not in known:
        raise UsageError(
            f"{option} {text!r} names no {kind} item.",
            f"There are: {', '.join(known) or 'none'}.",
            "Name one of these.",
        )
    return known[name.strip()], rest


def ask_for_answers(
    checklist: Checklist, record: ChecklistRecord, who: str, now_text: Callable[[], str], dialog: Dialog
) -> ChecklistRecord:
    """Ask for every open item that a user can answer.

    Args:
        checklist: The list.
        record: The answers so far.
        who: The user.
        now_text: The current time, RFC 3339.
        dialog: The user's terminal.
    """
    items = list(_for_users(checklist, record))
    try:
        for number, item in enumerate(items, 1):
            dialog.say(f"\n{number} of {len(items)}  {item.title}\n  why     {item.why}\n  if not  {item.fix}")
            found = _manual(dialog) if item.kind is ItemKind.MANUAL else _measured(item, dialog)
            if found is None:
                continue
            answer = Answer(item.id, *found, who, now_text())
            record = replace(record, answers=with_answers(record, checklist, [answer]))
            dialog.keep(record)
    except _Enough:
        dialog.say("Your answers are saved. Run the same command again to continue.")
    return record


def _for_users(checklist: Checklist, record: ChecklistRecord) -> Iterator[ChecklistItem]:
    for item in checklist.items:
        answer = record.answer(item.id)
        if item.kind is not ItemKind.AUTOMATIC and (answer is None or answer.state is ItemState.OPEN):
            yield item


def _manual(dialog: Dialog) -> tuple[ItemState, str] | None:
    while text := _read(dialog, f"yes, no or n/a, then a note (Enter leaves it open, {LEAVE} stops): "):
        word, _, remark = text.replace(":", " ", 1).partition(" ")
        state = _STATES.get(word.lower())
        if state is None:
            dialog.say(f"  {text!r} does not begin with yes, no, or n/a.")
            continue
        remark = remark.strip() or _read(dialog, "note (the observation, or why it does not apply): ")
        if remark:
            return state, remark
        dialog.say("  An answer needs a note.")
    return None


def _measured(item: ChecklistItem, dialog: Dialog) -> tuple[ItemState, str] | None:
    while text := _read(dialog, f"{item.limit} (Enter leaves it open, {LEAVE} stops): "):
        if text.isdecimal():
            return judge_measure(item, int(text))
        dialog.say(f"  {text!r} is not a whole number.")
    return None


def _read(dialog: Dialog, prompt: str) -> str:
    line = dialog.read(f"  {prompt}")
    if line is None or line.strip().lower() == LEAVE:
        raise _Enough
    return line.strip()
