"""How far a step of a collection is: requests answered and planned, and the time left at the measured rate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from eosctl.text import count_text, duration_text

#: So many answers without a new request show that a step has planned all of its requests.
_ENOUGH: Final = 5
#: A rate is measured over at least this time.
_RATE_S: Final = 1.0
_SHOW_EVERY_S: Final = 0.25


class Steps:
    """Counts the requests of the current step.

    A step often plans all of its requests first. Where each answer leads to further requests, their number is not
    known, and neither it nor a time is shown.

    Args:
        show: Shows a text in place of the one before.
        now_s: A monotonic clock, in seconds.
    """

    def __init__(self, show: Callable[[str], None], now_s: Callable[[], float]) -> None:
        self._show, self._now_s = show, now_s
        self._number = 0
        self._begin("")

    def begin(self, name: str) -> None:
        """Begin a step and show its name; requests of earlier ones no longer count."""
        self._number += 1
        self._begin(name)
        self._show(name)

    def _begin(self, name: str) -> None:
        self._name = name
        self._planned = self._answered = self._answered_before = 0
        self._grown_at_s = self._shown_at_s = self._now_s()

    def plan(self) -> int:
        """Count a planned request; return the number of its step."""
        self._planned += 1
        self._answered_before, self._grown_at_s = self._answered, self._now_s()
        return self._number

    def answer(self, number: int) -> None:
        """Count the end of a request of a step, and show how far the step is from time to time."""
        if number != self._number:
            return
        self._answered += 1
        now_s = self._now_s()
        if self._name and now_s - self._shown_at_s >= _SHOW_EVERY_S:
            self._shown_at_s = now_s
            self._show(f"{self._name}: {self._text(now_s)}")

    def _text(self, now_s: float) -> str:
        measured, elapsed_s = self._answered - self._answered_before, now_s - self._grown_at_s
        if measured < _ENOUGH:
            return count_text(self._answered, "request")
        text = f"{self._answered:,} of {count_text(self._planned, 'request')}"
        left = self._planned - self._answered
        if elapsed_s < _RATE_S or not left:
            return text
        return f"{text}, about {duration_text(max(1, round(left * elapsed_s / measured)) * 1000)} left"
