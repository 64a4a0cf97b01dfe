"""A real Prometheus scrapes what was recorded of real brokers and clients, and of simulated clusters.

``make prove alerts`` replays all of it at the pace at which it happened, to the rules as they are exported; else a
short recording is replayed thirty times faster, to rules whose holds and windows are as much shorter.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from eosctl.lab.virtual_loop import run_virtual
from eosctl.monitoring.alerts import rules_document
from tests.monitoring.endpoints import Answer, Request, served
from tests.monitoring.incidents import INCIDENTS, VERSION
from tests.monitoring.prometheus import DEADLINE_S, FASTER, firing_by_job, requires_prometheus, running_prometheus
from tests.monitoring.series import SCRAPE_S, recorded
from tests.monitoring.simulated import record
from tests.monitoring.test_alerts_on_faults import FAULTS

#: A recording with a lasting value that decides at any pace, so a slow machine sees it, too.
QUICK = ("large-records",)
CLOCK = "eosctl_captured_timestamp_seconds"
#: After its end a recording repeats its last values, so that a late poll sees the same alerts. It is judged for this
#: many more scrapes and no longer, because longer states were never recorded (an exporter that stays blind, errors that
#: last for ten minutes).
JUDGED_BEHIND_END = 4 if FASTER == 1 else math.inf
JOB = re.compile(r'job="[^"]*"')


class Replay(NamedTuple):
    """Values of each series, a word a scrape, and the alerts that fire at some time: these and no others."""

    series: Mapping[str, list[str]]
    firing: frozenset[str]

    @property
    def count(self) -> int:
        return max(map(len, self.series.values()))


def replays(folder: Path) -> dict[str, Replay]:
    chosen = QUICK if FASTER > 1 else tuple(INCIDENTS)
    found = {
        name: Replay({k: v.split() for k, v in recorded(f"{name}-{VERSION}")["series"].items()}, INCIDENTS[name].firing)
        for name in chosen
    }
    if FASTER == 1:
        for number, (fault, minutes, firing, shape) in enumerate(FAULTS.values()):
            series = run_virtual(record(folder / str(number), shape, minutes, fault))
            found[f"simulated-{number}"] = Replay(series.values, firing)
    return found


def page(name: str, replay: Replay, index: int, shift_s: float) -> str:
    """Return what was scraped then, under a job of its own."""
    lines = []
    for series, values in replay.series.items():
        value = values[index]
        if value in ("_", "stale"):
            continue
        if series.startswith(CLOCK):
            value = str(float(value) + shift_s)
        lines.append(f"{JOB.sub(f'job={name!r}'.replace(chr(39), chr(34)), series, count=1)} {value}\n")
    return "".join(lines)


@requires_prometheus
@pytest.mark.timeout(7200 if FASTER == 1 else 600)
def test_alerts_fire_on_what_was_recorded_alone(tmp_path: Path) -> None:
    played = replays(tmp_path)
    began = time.time()
    every_s = SCRAPE_S / FASTER

    def answer(request: Request) -> Answer:
        name = request.path.removeprefix("/")
        replay, index = played[name], int((time.time() - began) / every_s)
        index = min(index, replay.count - 1)
        clocks = [float(v[0]) for k, v in replay.series.items() if k.startswith(CLOCK) and v[0] not in ("_", "stale")]
        shift = time.time() - index * SCRAPE_S - clocks[0] if clocks else 0.0
        return Answer(page(name, replay, index, shift))

    seen: dict[str, set[str]] = {name: set() for name in played}
    with served(answer) as url:
        host = url.removeprefix("http://")
        jobs = {name: [host] for name in played}
        with running_prometheus(
            tmp_path, jobs, rules_document(FASTER), round(every_s * 1000), own_labels=True
        ) as server:
            ends_at = began + max(one.count for one in played.values()) * every_s
            gives_up_at = ends_at + DEADLINE_S
            while time.time() < ends_at or (time.time() < gives_up_at and not complete(seen, played)):
                index = (time.time() - began) / every_s
                for name, alerts in firing_by_job(server).items():
                    if index > played[name].count + JUDGED_BEHIND_END:
                        continue
                    seen[name] |= alerts
                    assert alerts <= played[name].firing, (name, alerts)
                time.sleep(every_s / 2)
    assert seen == {name: set(one.firing) for name, one in played.items()}


def complete(seen: Mapping[str, set[str]], played: Mapping[str, Replay]) -> bool:
    return all(seen[name] >= one.firing for name, one in played.items())
