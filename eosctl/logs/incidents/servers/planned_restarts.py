"""Judge the clean restarts of servers: one of a plan, one of a roll, or one of a series that no plan explains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from eosctl.logs.incidents.servers.outages import Outage
from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.model.incident import Incident
from eosctl.model.severity import Severity
from eosctl.text import count_text, duration_text

ROLLING_MS: Final = 600_000
STOPS: Final = 3
"""Minimum number of clean restarts of one node in a row that no plan explains."""
STOP_PAUSE_MS: Final = 900_000
"""Maximum time between two of them."""


def find_planned_restarts(outages: Sequence[Outage]) -> Iterator[Incident]:
    """Yield the planned restarts, or one rolling restart for several of them.

    A node that is stopped again soon after each start is not restarted by a plan.
    """
    planned = [outage for outage in outages if outage.planned and outage.up_ms is not None]
    again = [run for run in _runs(planned) if len(run) >= STOPS]
    yield from map(_stopped_again, again)
    looping = {id(outage) for run in again for outage in run}
    planned = [outage for outage in planned if id(outage) not in looping]
    for outage in planned:
        yield incident(
            "broker_restart_clean",
            "planned-restart",
            {"broker": outage.node},
            outage.events,
            f"Node {outage.node} received a shutdown request, stopped cleanly, and started again.",
            "Nothing: clients retry through a planned restart.",
            severity=Severity.INFO,
            t_start_ms=outage.down_ms,
            t_end_ms=outage.up_ms,
        )
    nodes = tuple(sorted({outage.node for outage in planned}))
    if len(nodes) > 1 and planned[-1].down_ms - planned[0].down_ms <= ROLLING_MS * len(nodes):
        yield incident(
            "baseline",
            "planned-restart",
            {"cluster": f"brokers {nodes[0]}-{nodes[-1]}", "brokers": nodes},
            [event for outage in planned for event in outage.events],
            f"Nodes {', '.join(nodes)} were restarted one after the other, each with a clean shutdown.",
            "Nothing: the retries, rebalances, and coordinator moves of this time are part of a rolling restart.",
            severity=Severity.INFO,
            t_start_ms=planned[0].down_ms,
            t_end_ms=max(outage.up_ms or 0 for outage in planned),
        )


def _runs(planned: Iterable[Outage]) -> Iterator[list[Outage]]:
    """Yield the clean restarts of each node that follow each other within ``STOP_PAUSE_MS``."""
    runs: dict[str, list[Outage]] = {}
    for outage in planned:
        run = runs.setdefault(outage.node, [])
        if run and outage.down_ms - run[-1].down_ms > STOP_PAUSE_MS:
            yield run
            run = runs[outage.node] = []
        run.append(outage)
    yield from runs.values()


def _stopped_again(run: Sequence[Outage]) -> Incident:
    node = run[0].node
    who = f"Node {node}" if node else "A server"
    pauses_ms = sorted(after.down_ms - before.down_ms for before, after in pairwise(run))
    usual = duration_text(pauses_ms[len(pauses_ms) // 2])
    return incident(
        "server_restarts",
        "stopped-by-request-again-and-again",
        {"broker": node},
        [event for outage in run for event in outage.events],
        f"{who} was stopped by a request {count_text(len(run), 'time')}, about every {usual}, and started again each "
        "time. Each stop was clean, so something outside of Kafka ends it: an operator, a probe, a deployment, or a "
        "supervisor.",
        "Find who sends the signal (SIGTERM): the operator's log, the events of the pod, the unit's log of systemd. "
        "Each restart moves leaders and coordinators, and clients retry.",
        severity=Severity.WARNING,
        confidence=0.85,
        t_start_ms=run[0].down_ms,
        t_end_ms=run[-1].up_ms,
    )
