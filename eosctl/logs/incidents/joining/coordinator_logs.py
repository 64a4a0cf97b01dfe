"""Join what a coordinator's log shows with its effects: its clients wait, and report that their transactions timed out.

A coordinator whose partition of __transaction_state refuses writes answers COORDINATOR_NOT_AVAILABLE to each request
that it would have to write (``TransactionStateManager``). A node of Redpanda without the coordinator answers the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.joining.absorbing import gathered, with_parts
from eosctl.logs.incidents.kinds import kinds_with
from eosctl.logs.incidents.timeline.evidence import MAX_EVIDENCE_COUNT, evidence_of, joined_evidence
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import time_text

BEFORE_MS: Final = 5_000
LATE_MS: Final = 180_000
"""Maximum time until a client gives a request up: max.block.ms and default.api.timeout.ms are a minute each."""
_KINDS: Final = frozenset({"not_enough_replicas", "partition_offline", "partition_without_leader"})
_TOPIC: Final = "__transaction_state-"
_NO_ID: Final = "init_producer_id_timeout"
_WITHOUT_ID: Final = "a client got no producer id, and has to initialize its producer again."
_NOT_REACHED: Final = "brokers-not-reached"
_EFFECTS: Final = kinds_with("needs_transaction_coordinator")
_REJECTED: Final = "commit-rejected-again-and-again"
"""The cause for which a coordinator of Redpanda cannot end a transaction, and initialize its id."""
_ABSENT: Final = "node-does-not-coordinate"
"""The cause for which a node of Redpanda refuses what its coordinator would do."""
_REFUSED: Final = _EFFECTS | kinds_with("needs_group_coordinator")


def join_coordinator_logs(timeline: LogTimeline, incidents: Sequence[Incident]) -> Iterator[Incident]:
    """Yield incidents; what clients report of a coordinator that cannot write is a part of the reason."""
    causes = [one for one in incidents if one.kind in _KINDS and _partition_of(one).startswith(_TOPIC)]
    rejected = [one for one in incidents if one.root_cause == _REJECTED]
    absent = [one for one in incidents if one.root_cause == _ABSENT]
    failed = {id(cause): _failed_writes(timeline, cause) for cause in causes}

    def home_of(one: Incident) -> Incident | None:
        if home := next((cause for cause in rejected if _waits_for(one, cause)), None):
            return home
        if home := next((cause for cause in absent if _is_refused(timeline, one, cause)), None):
            return home
        return next((cause for cause in causes if _is_effect(timeline, one, cause, failed[id(cause)])), None)

    for one, effects in gathered(incidents, home_of):
        if effects and one.root_cause in (_REJECTED, _ABSENT):
            yield _with_clients(one, effects)
        else:
            yield _with_effects(one, failed[id(one)], effects) if id(one) in failed else one


def _waits_for(one: Incident, cause: Incident) -> bool:
    """Return whether a client got no producer id while the coordinator could not end the transaction of its id."""
    named = one.subject.get("transactional.id", "")
    if one.kind != _NO_ID or not named or named != cause.subject.get("transactional.id"):
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
    return bool(own) and bool(timeline.log_between(own[0], since_ms, time_of(own[-1]), ("COORDINATOR_UNAVAILABLE",)))


def _with_clients(cause: Incident, effects: Sequence[Incident]) -> Incident:
    texts = (
        f"Effect ({one.kind}), at {time_text(one.t_start_ms)}: a client waited for its id in vain." for one in effects
    )
    subject = {**{name: value for one in effects for name, value in one.subject.items()}, **cause.subject}
    return with_parts(cause, effects, *texts, subject=subject)


def _partition_of(one: Incident) -> str:
    partition = one.subject.get("topic-partition", "")
    return partition if isinstance(partition, str) else ""


def _failed_writes(timeline: LogTimeline, cause: Incident) -> Sequence[LogEvent]:
    """Return the records of a coordinator's writes that the partition of its log refused."""
    evidence = timeline.evidence(cause)
    if not evidence:
        return ()
    start_ms, end_ms = cause.t_start_ms - BEFORE_MS, cause.t_end_ms + BEFORE_MS
    return timeline.log_between(evidence[0], start_ms, end_ms, ("TXN_LOG_APPEND_FAILED",))


def _is_effect(timeline: LogTimeline, one: Incident, cause: Incident, failed: Sequence[LogEvent]) -> bool:
    """Return whether a client waited for that coordinator: by its id, or by the answers in its log at that time."""
    if one.kind not in _EFFECTS or one.root_cause == _NOT_REACHED:
        return False
    if not cause.t_start_ms - BEFORE_MS <= one.t_start_ms <= cause.t_end_ms + LATE_MS:
        return False
    own = [event for event in timeline.evidence(one) if event.application not in timeline.servers()]
    if not own:
        return False
    if named := one.subject.get("transactional.id"):
        # The other partitions of the topic have their replicas on the same brokers.
        return one.kind == _NO_ID or named in {event.fields.get("transactional_id") for event in failed}
    answers = timeline.log_between(own[0], cause.t_start_ms - BEFORE_MS, time_of(own[0]), ("COORDINATOR_UNAVAILABLE",))
    return bool(answers)


def _with_effects(cause: Incident, failed: Sequence[LogEvent], effects: Sequence[Incident]) -> Incident:
    ids = tuple(dict.fromkeys(name for event in failed if (name := event.fields.get("transactional_id"))))
    named: dict[str, str | tuple[str, ...]] = {"transactional.ids": ids[:MAX_EVIDENCE_COUNT]} if ids else {}
    if len(ids) == 1:
        named = {"transactional.id": ids[0]}
    writes = f" It refused writes of the coordinator from {time_text(time_of(failed[0]))} on." if failed else ""
    texts = [
        f"Effect ({one.kind}), at {time_text(one.t_start_ms)}: "
        + (_WITHOUT_ID if one.kind == _NO_ID else "the transaction of a client failed; abort it and repeat its work.")
        for one in effects
    ]
    whole = with_parts(
        cause._replace(evidence=joined_evidence(cause.evidence, evidence_of(failed))),
        effects,
        "Its transaction coordinator cannot store anything, so transactions with their state in this partition neither "
        "begin nor end (COORDINATOR_NOT_AVAILABLE)." + writes,
        *texts,
        subject={**{name: value for one in effects for name, value in one.subject.items()}, **named, **cause.subject},
    )
    return whole._replace(t_start_ms=cause.t_start_ms)
