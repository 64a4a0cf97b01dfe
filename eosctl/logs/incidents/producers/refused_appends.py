"""Join a producer that its leader refused (INVALID_TXN_STATE) with the leader's own record of the refused append.

A leader verifies with the coordinator that a transaction is open before it appends to it (KIP-890). A refusal shows
that the leader did not find it open. It does not show a timeout, a pause of the process, or a second producer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.program_names import client_id_of, opening, program_of
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import time_text

REFUSED_MS: Final = 2_000
"""Maximum time between a leader's record of a refusal and the client's."""
RETRIED_MS: Final = 60_000
"""Maximum time from a write that a client retried to the refusal of the next one."""
_APPEND: Final = "append operation on partition"
_RETRY: Final = re.compile(
    r"on topic-partition (?P<partition>[\w.-]{1,249}-\d+), retrying[^\n]{0,60}\bError: (?P<error>[A-Z_]+)"
)
_TOPIC: Final = re.compile(r"\bsending record to topic (?P<topic>[\w.-]{1,249})")


def refused_appends(timeline: LogTimeline, burst: Sequence[LogEvent]) -> Sequence[LogEvent]:
    """Return the records of leaders that refused appends of a client, at its time and on a partition that it names."""
    if not any(event.category == "INVALID_TXN_STATE" for event in burst):
        return ()
    first_ms, last_ms = time_of(burst[0]), time_of(burst[-1])
    servers = timeline.server_events("INVALID_TXN_STATE")
    near = [one for one in servers if first_ms - REFUSED_MS <= time_of(one) <= last_ms + REFUSED_MS]
    if not near:
        return ()
    partitions = {found["partition"] for one in _retries(timeline, burst[0]) if (found := _RETRY.search(one.message))}
    partitions |= {name for one in burst if (name := one.fields.get("partition"))}
    topics = {found["topic"] for one in burst if (found := _TOPIC.search(one.message))}
    return [
        one
        for one in near
        if _APPEND in one.message
        and (name := one.fields.get("partition", ""))
        and (name in partitions or name.rpartition("-")[0] in topics)
    ]


def write_refused(
    timeline: LogTimeline, transactional_id: str, refused: Sequence[LogEvent], burst: Sequence[LogEvent]
) -> Incident:
    """Return the incident of a producer with a refused write: the leader did not find its transaction open."""
    names = sorted({one.fields["partition"] for one in refused})
    again = _retries(timeline, burst[0])
    retried = [one for one in again if (found := _RETRY.search(one.message)) and found["partition"] in names]
    who = transactional_id or opening(program_of(timeline, burst[-1]))
    before = ""
    if retried and (found := _RETRY.search(retried[-1].message)):
        before = (
            f" Just before ({time_text(time_of(retried[-1]))}), its write to {found['partition']} had failed with "
            f"{found['error']} and was sent again."
        )
    nodes = {node for one in refused if (node := one.fields.get("broker") or timeline.node_of(one.application))}
    where = f"broker {next(iter(nodes))}" if len(nodes) == 1 else "the leader"
    return incident(
        "transaction_request_refused",
        "append-not-verified",
        {
            "transactional.id": transactional_id,
            "application": burst[-1].application,
            "client.id": client_id_of(burst[-1]),
            "topic-partition": names[0] if len(names) == 1 else "",
            "topic-partitions": tuple(names) if len(names) > 1 else (),
            "broker": next(iter(nodes)) if len(nodes) == 1 else "",
        },
        [*retried[-1:], *refused, *burst],
        f"The write of {who} to {', '.join(names)} was refused: {where} verified its transaction, and did not find it "
        f"open or did not find the partition in it.{before} No log here shows a timeout of the transaction or a "
        "second producer.",
        "Create a new producer, and process the records again from the last committed offsets. Add the transaction "
        "coordinator's server.log of this time, and compare the releases of client and brokers with known bugs.",
        confidence=0.8,
        t_start_ms=min(time_of(one) for one in (*refused, *burst)),
    )


def _retries(timeline: LogTimeline, first: LogEvent) -> Sequence[LogEvent]:
    """Return the writes that a client sent again shortly before a refusal."""
    near = timeline.log_between(first, time_of(first) - RETRIED_MS, time_of(first))
    client = first.fields.get("client_id", "")
    return [one for one in near if "retrying" in one.message and one.fields.get("client_id", client) == client]
