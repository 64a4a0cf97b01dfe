"""No alert without a fault that was really made, and the page says which."""

from __future__ import annotations

from tests.monitoring.alert_proofs import PAGE, alerts_shown, render_page


def test_every_alert_fires_in_a_fault() -> None:
    assert [name for name, faults in alerts_shown().items() if not faults] == []


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == render_page(), "write it again: python -m tests.monitoring.alert_proofs"
