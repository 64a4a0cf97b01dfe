"""Join a partition of __transaction_state that refuses writes with its effects: its coordinator cannot store anything.

The coordinator answers COORDINATOR_NOT_AVAILABLE to each request that it would have to write
(``TransactionStateManager``). Clients wait and report that their transactions timed out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.evidence import MAX_EVIDENCE_COUNT, evidence_of
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import count_text, time_text

BEFORE_MS: Final = 5_000
LATE_MS: Final = 180_000
"""Maximum time until a client gives a request up: max.block.ms and default.api.timeout.ms are a minute each."""
_KINDS: Final = frozenset({"not_enough_replicas", "partition_offline", "partition_without_leader"})
_TOPIC: Final = "__transaction_state-"
_NO_ID: Final = "init_producer_id_timeout"
_NOT_REACHED: Final = "brokers-not-reached"
_EFFECTS: Final = frozenset(
    {
        *("producer_error", "transaction_end_timeout", "init_producer_id_timeout", "transaction_offsets_timeout"),
        *("coordinator_unavailable", "transaction_not_completed", "requests_timed_out"),
    }
)


def join_coordinator_logs(timeline: LogTimeline, incidents: Sequence[Incident]) -> Iterator[Incident]:
    """Yield incidents; what clients report of a coordinator that cannot write is a part of the reason."""
    causes = [one for one in incidents if one.kind in _KINDS and _partition_of(one).startswith(_TOPIC)]
    failed = {id(cause): _failed_writes(timeline, cause) for cause in causes}
    effects: dict[int, list[Incident]] = defaultdict(list)
    absorbed: set[int] = set()
    for one in incidents:
        cause = next((cause for cause in causes if _is_effect(timeline, one, cause, failed[id(cause)])), None)
        if cause is not None:
            effects[id(cause)].append(one)
            absorbed.add(id(one))
    for one in incidents:
        if id(one) in failed:
            yield _with_effects(one, failed[id(one)], effects[id(one)])
        elif id(one) not in absorbed:
            yield one


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
    writes = f" It refused {count_text(len(failed), 'write')} of the coordinator." if failed else ""
    texts = [
        f" Effect ({one.kind}), at {time_text(one.t_start_ms)}: the transaction of a client failed; abort it and "
        "repeat its work."
        for one in effects
    ]
    of_effects = (place for one in effects for place in one.evidence)
    places = dict.fromkeys((*cause.evidence, *evidence_of(failed), *of_effects))
    return cause._replace(
        subject={**{name: value for one in effects for name, value in one.subject.items()}, **named, **cause.subject},
        t_end_ms=max(one.t_end_ms for one in (cause, *effects)),
        evidence=tuple(places)[:MAX_EVIDENCE_COUNT],
        explanation=f"{cause.explanation} Its transaction coordinator cannot store anything, so transactions with "
        f"their state in this partition neither begin nor end (COORDINATOR_NOT_AVAILABLE).{writes}{''.join(texts)}",
    )
