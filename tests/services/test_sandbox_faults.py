"""The clock of a sandbox advances in parts, so that a user sees progress and can stop."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from eosctl.sandbox.clock import LONGEST_ADVANCE_MS
from eosctl.sandbox.process import manage
from eosctl.services.callbacks import Callbacks
from eosctl.services.sandbox_faults import ClockAdvance, advance_clock


@pytest.fixture
def advanced(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Stand in for a sandbox, and record the parts that it was sent; the fourth is interrupted."""
    parts: list[float] = []

    def send(sandbox: object, command: str, **arguments: float) -> int:
        assert command == "advance"
        if len(parts) == 3:
            raise KeyboardInterrupt
        parts.append(arguments["ms"])
        return 2

    monkeypatch.setattr(manage, "require", lambda name: SimpleNamespace(name=name))
    monkeypatch.setattr(manage, "send_command", send)
    return parts


def test_a_long_time_passes_in_parts(advanced: list[float]) -> None:
    shown: list[str] = []
    callbacks = Callbacks(progress=shown.append)
    assert advance_clock(ClockAdvance(2 * LONGEST_ADVANCE_MS + 5), callbacks) == 6
    assert advanced == [LONGEST_ADVANCE_MS, LONGEST_ADVANCE_MS, 5]
    assert shown[0] == "1 h of 2 h passed"


def test_an_interrupted_user_reads_how_much_passed(advanced: list[float]) -> None:
    remarks: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        advance_clock(ClockAdvance(5 * LONGEST_ADVANCE_MS), Callbacks(remark=remarks.append))
    assert remarks == ["Sandbox default: interrupted after 3 h of 5 h, and at most one hour more."]
    assert len(advanced) == 3
