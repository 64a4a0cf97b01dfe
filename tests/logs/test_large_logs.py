"""Logs with more events than a process holds end in advice, not in a crash."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from eosctl.errors import EosctlError
from eosctl.services import log_engine
from spark_log_analytics import session
from spark_log_analytics.listing import TooManyEventsError


def test_too_many_events_name_what_lessens_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_engine, "spark_obstacle", lambda: None)
    monkeypatch.setattr(session, "session", lambda settings: nullcontext())
    with pytest.raises(EosctlError) as refused, log_engine.spark_session(lambda _: None):
        raise TooManyEventsError(12_345_678)
    assert "12,345,678 events" in refused.value.why
    assert "--category" in refused.value.next_step
