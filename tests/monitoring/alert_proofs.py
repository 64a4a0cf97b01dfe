"""The page with the fault that shows each alert; ``python -m tests.monitoring.alert_proofs`` writes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from eosctl.monitoring.alerts import load_alerts
from tests.monitoring.incidents import INCIDENTS
from tests.monitoring.test_alerts_on_faults import FAULTS, LONG

PAGE = Path(__file__).parents[2] / "docs" / "metrics" / "alert-proofs.md"
HEAD = """\
# Which fault shows which alert

Every alert of [the rules](alerts.md) fires in a fault that was really made; in each fault these alerts fire and no
others.

- *sandbox*: a cluster of `eosctl sandbox` on virtual time, its metrics pages and that of `eosctl exporter`
  (`tests/monitoring/test_alerts_on_faults.py`).
- *recorded*: pages of jmx_exporter with [our configuration](exports.md), scraped from a real 4.3.1 broker or Java
  client while the fault was there (`tests/monitoring/recording`, replayed by `tests/monitoring/test_incidents.py`). The
  Java clients spoke to a sandbox.

promtool evaluates all rules on all of these in `make test` and `make test-slow`. `make prove alerts` lets a real
Prometheus scrape them at the pace at which they happened (`tests/monitoring/test_replayed.py`), and a live sandbox with
the exporter (`tests/monitoring/test_real_prometheus.py`). That a value within its limit leaves an alert silent is shown
on series (`tests/monitoring/test_alerts.py`).

"""


class Shown(NamedTuple):
    """A fault and where it was made."""

    where: str
    what: str
    firing: frozenset[str]


def shown() -> Iterator[Shown]:
    for name, case in FAULTS.items():
        if case.firing and name not in LONG:
            yield Shown("sandbox", name, case.firing)
    for incident in INCIDENTS.values():
        if incident.firing:
            yield Shown("recorded", incident.what, incident.firing)


def alerts_shown() -> Mapping[str, list[Shown]]:
    """Return the faults in which each alert fires."""
    faults = list(shown())
    return {alert.name: [one for one in faults if alert.name in one.firing] for alert in load_alerts()}


def render_page() -> str:
    rows = ["| Alert | Fault | Made in |", "|---|---|---|"]
    for name, faults in alerts_shown().items():
        for number, one in enumerate(faults):
            rows.append(f"| {'' if number else name} | {one.what} | {one.where} |")
    return HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(render_page(), "utf-8")
