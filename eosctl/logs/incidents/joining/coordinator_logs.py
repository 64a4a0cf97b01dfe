"""Name the producers that a coordinator refuses, and join what clients of Redpanda report of a missing one.

A coordinator whose partition of __transaction_state refuses writes answers COORDINATOR_NOT_AVAILABLE to each request
that it would have to write (``TransactionStateManager``). A node of Redpanda without the coordinator answers the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.joining.absorbing import gathered, with_parts
from eosctl.logs.incidents.kinds import kinds_with
from eosctl.logs.incidents.servers.coordinators import refusals_of
from eosctl.logs.incidents.timeline.evidence import MAX_EVIDENCE_COUNT, evidence_of, joined_evidence
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import time_text

BEFORE_MS: Final = 5_000
LATE_MS: Final = 180_000
"""Maximum time until a client gives a request up: max.block.ms and default.api.timeout.ms are a minute each."""
WAIT_MS: Final = 60_000
"""The time that a client waits for its producer id by default."""
_KINDS: Final = frozenset({"not_enough_replicas", "partition_offline", "partition_without_leader"})
_TOPIC: Final = "__transaction_state-"
_NO_ID: Final = "init_producer_id_timeout"
_NO_PID: Final = "failed to allocate pid"
"""A node's words about a producer that gets no id."""
_NOT_OPEN: Final = frozenset({"transaction_request_refused", "transaction_timeout"})
"""Kinds of what a client reports whose request came while its transaction was not open."""
_NOT_REACHED: Final = "brokers-not-reached"
_REJECTED: Final = "commit-rejected-again-and-again"
"""The cause for which a coordinator of Redpanda cannot end a transaction, and initialize its id."""
_ABSENT: Final = "node-does-not-coordinate"
"""The cause for which a node of Redpanda refuses what its coordinator would do."""
_REFUSED: Final = kinds_with("needs_transaction_coordinator") | kinds_with("needs_group_coordinator")


def join_coordinator_logs(timeline: LogTimeline, incidents: Sequence[Incident]) -> Iterator[Incident]:
    """Yield incidents; a coordinator whose log cannot be written names the producers that it refuses."""
    rejected = [one for one in incidents if one.root_cause == _REJECTED]
    absent = [one for one in incidents if one.root_cause == _ABSENT]

    def home_of(one: Incident) -> Incident | None:
        near = [cause for cause in rejected if _waits_for(timeline, one, cause)]
        if near and (len(near) == 1 or one.subject.get("transactional.id")):
            return near[0]
        return next((cause for cause in absent if _is_refused(timeline, one, cause)), None)

    for one, effects in gathered(incidents, home_of):
        is_of_log = one.kind in _KINDS and _partition_of(one).startswith(_TOPIC)
        if effects:
            yield _with_clients(one, effects)
        else:
            yield _with_refusals(one, refusals_of(timeline, one)) if is_of_log else one


def _waits_for(timeline: LogTimeline, one: Incident, cause: Incident) -> bool:
    """Return whether a client got no producer id, or no new transaction, while the earlier one of its id could not end.

    Librdkafka does not log the id of its transactions.
    """
    own = [event for event in timeline.evidence(one) if event.application not in timeline.servers()]
    is_refused = one.kind in _NOT_OPEN and bool(own) and all(event.category == "INVALID_TXN_STATE" for event in own)
    named = one.subject.get("transactional.id", "")
    if not (one.kind == _NO_ID or is_refused) or (named and named != cause.subject.get("transactional.id")):
        return False
    return cause.t_start_ms - BEFORE_MS <= one.t_end_ms and one.t_start_ms <= cause.t_end_ms + LATE_MS


def _is_refused(timeline: LogTimeline, one: Incident, cause: Incident) -> bool:
    """Return whether a client was answered that it has no coordinator while a node refused such requests."""
    if one is cause or one.kind not in _REFUSED or one.root_cause in (_NOT_REACHED, _ABSENT):
        return False
    ids = one.subject.get("transactional.id"), cause.subject.get("transactional.id")
    if all(ids) and ids[0] != ids[1]:
        return False
    if not cause.t_start_ms - BEFORE_MS <= one.t_start_ms <= cause.t_end_ms + LATE_MS:
        return False
    own = [event for event in timeline.evidence(one) if event.application not in timeline.servers()]
    since_ms = cause.t_start_ms - BEFORE_MS
    if not own:
        return False
    if timeline.log_between(own[0], since_ms, time_of(own[-1]), ("COORDINATOR_UNAVAILABLE",)):
        return True
    # A client without the answers in its log only reports the end of its wait.
    refused = [event for event in timeline.evidence(cause) if _NO_PID in event.message]
    return one.kind == _NO_ID and bool(within(refused, time_of(own[0]) - WAIT_MS, time_of(own[0])))


def _with_clients(cause: Incident, effects: Sequence[Incident]) -> Incident:
    texts = (
        f"Effect ({one.kind}), at {time_text(one.t_start_ms)}: "
        + (
            "its producer's next transaction was refused."
            if one.kind in _NOT_OPEN
            else "a client waited for its id in vain."
        )
        for one in effects
    )
    subject = {**{name: value for one in effects for name, value in one.subject.items()}, **cause.subject}
    return with_parts(cause, effects, *texts, subject=subject)


def _partition_of(one: Incident) -> str:
    partition = one.subject.get("topic-partition", "")
    return partition if isinstance(partition, str) else ""


def _with_refusals(cause: Incident, refused: Sequence[LogEvent]) -> Incident:
    """Return a coordinator's log that cannot be written with the producers that it refuses."""
    ids = tuple(dict.fromkeys(name for event in refused if (name := event.fields.get("transactional_id"))))
    named: dict[str, str | tuple[str, ...]] = {"transactional.ids": ids[:MAX_EVIDENCE_COUNT]} if ids else {}
    if len(ids) == 1:
        named = {"transactional.id": ids[0]}
    if any(cause.subject.get(name) for name in ("transactional.id", "transactional.ids")) and len(ids) < 2:
        named = {}
    failed = [event for event in refused if event.category == "TXN_LOG_APPEND_FAILED"] or refused
    writes = f" It refused writes of the coordinator from {time_text(time_of(failed[0]))} on." if failed else ""
    return cause._replace(
        evidence=joined_evidence(cause.evidence, evidence_of(failed)),
        subject={**cause.subject, **named},
        explanation=f"{cause.explanation} Its transaction coordinator cannot store anything, so transactions with "
        f"their state in this partition neither begin nor end (COORDINATOR_NOT_AVAILABLE).{writes}",
    )
