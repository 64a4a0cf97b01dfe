"""Make what Kubernetes reports of a Kafka server's pod a part of the server's own fault: its effect, or its cause.

A container that ends again and again only repeats the fault that its log names. A pod that does not start at all, for
want of a node, a volume, or an image, is the cause for those who wait for the server in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Final

from eosctl.logs.files.printed_logs import printed_by
from eosctl.logs.incidents.joining.absorbing import absorb, start_of
from eosctl.logs.incidents.kinds import kinds_with
from eosctl.logs.incidents.timeline.evidence import joined_evidence
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import time_text

_POD: Final = "pod_not_running"
_EFFECTS: Final = frozenset({"container-ends-after-each-start", "probe-fails"})
_FATAL: Final = kinds_with("ends_server") | {
    "log_recovery_interrupted",
    "server_restarts",
    "state_directory_error",
    "streams_client_failed",
}
"""Kinds of faults after which a container is started again."""
_WAITING: Final = frozenset(
    {"controller_quorum_lost", "brokers_not_reached", "host_not_resolved", "coordinator_unavailable"}
)
"""Kinds of faults of those who wait for a server."""
_LOST: Final = "broker_crash"
_ATTEMPTS: Final[tuple[EventCategory, ...]] = ("BROKERS_UNREACHED", "HOST_NOT_RESOLVED", "NETWORK_DISCONNECT")
_WAITING_BROKERS: Final = "waiting.brokers"
"""The name in the subject of a lost quorum for the brokers that did not start without it."""
_FIRST_LINES: Final = 5
_ORDINAL: Final = re.compile(r"-(\d{1,10})$")
_LABEL: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


def join_pods(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; a pod that does not run is a part of the fault of the Kafka server or program in it."""
    found = tuple(incidents)
    pods = [one for one in found if one.kind == _POD]
    if not pods:
        yield from found
        return
    others = [one for one in found if one.kind != _POD and one.severity is not Severity.INFO]

    crashing = {pod for one in pods if one.root_cause in _EFFECTS for pod in _pods_of(timeline, one)}

    def home_of(one: Incident) -> Incident | None:
        if one.kind == _LOST:
            return next((home for home in others if _ends_again(timeline, home, one, crashing)), None)
        named = _pods_of(timeline, one) if one.kind == _POD else ()
        if one.kind == _POD and one.root_cause in _EFFECTS and (quorum := _lost_quorum(others, named)):
            return quorum
        if len(named) != 1:
            return None
        (pod,) = named
        if one.root_cause in _EFFECTS:
            own = [home for home in others if _ends_container(timeline, home) and _is_of_pod(timeline, home, pod)]
            return max(own, key=lambda home: home.t_end_ms, default=None)
        return next((home for home in others if home.kind in _WAITING and _waits_for(timeline, home, pod)), None)

    yield from absorb(found, home_of, lambda one, parts: _with_pods(timeline, one, parts))


def _pods_of(timeline: LogTimeline, one: Incident) -> Sequence[str]:
    """Return the names of the pods that an incident is about: kubectl lists several in one table."""
    if named := str(one.subject.get("pod", "")):
        return (named,)
    return sorted({pod for event in timeline.evidence(one) if (pod := event.fields.get("pod", ""))})


def _lost_quorum(others: Sequence[Incident], pods: Sequence[str]) -> Incident | None:
    """Return the lost quorum that a broker in one of some pods waited for, unless a lost voter is in one of them."""
    numbers = {found[1] for pod in pods if (found := _ORDINAL.search(pod))}
    return next(
        (
            home
            for home in others
            if numbers.intersection(home.subject.get(_WAITING_BROKERS, ()))
            and numbers.isdisjoint(home.subject.get("unreachable", ()))
        ),
        None,
    )


def _ends_container(timeline: LogTimeline, one: Incident) -> bool:
    """Return whether a container may end because of a fault: any error of a program, and some of a server."""
    if one.kind in _FATAL:
        return True
    clients = [event for event in timeline.evidence(one) if event.application not in timeline.servers()]
    return bool(clients) and one.severity.at_least(Severity.ERROR)


def _ends_again(timeline: LogTimeline, one: Incident, lost: Incident, pods: Set[str]) -> bool:
    """Return whether a fault ends the server of a pod at each start, and its broker was lost before the last one."""
    node = lost.subject.get("broker")
    is_same = one.kind in _FATAL and bool(node) and one.subject.get("broker") == node
    return is_same and lost.t_start_ms <= one.t_end_ms and any(_is_of_pod(timeline, one, pod) for pod in pods)


def _is_of_pod(timeline: LogTimeline, one: Incident, pod: str) -> bool:
    """Return whether a fault is that of the server or program in a pod.

    The pod has the name of the program or its machine, or the command above the log has printed it. A server has the
    pod's number in a StatefulSet.
    """
    ordinal = _ORDINAL.search(pod)
    nodes = {str(one.subject[name]) for name in ("broker", "controller") if one.subject.get(name)}
    if nodes:
        return ordinal is not None and ordinal[1] in nodes
    events = timeline.evidence(one)
    names = {name for event in events for name in (event.application, event.host) if name}
    return pod in names or _is_printed(timeline, events, pod)


def _is_printed(timeline: LogTimeline, events: Sequence[LogEvent], pod: str) -> bool:
    """Return whether the files of some records begin with the command that prints the log of a pod, and no other."""
    files = {event.file for event in events}
    beginnings = (source.beginning for source in timeline.sources if source.file in files)
    printed = {name for text in beginnings for line in text.splitlines()[:_FIRST_LINES] for name in printed_by(line)}
    return printed == {pod}


def _waits_for(timeline: LogTimeline, one: Incident, pod: str) -> bool:
    """Return whether the program of a fault did not reach an address in a pod, which begins with the pod's name."""
    own = timeline.evidence(one)
    near = timeline.log_between(own[0], one.t_start_ms, one.t_end_ms, _ATTEMPTS) if own else ()
    return any(label == pod for event in (*own, *near) for label in _labels(event))


def _labels(event: LogEvent) -> Iterator[str]:
    for peer in event.fields.get("peer", "").split(","):
        if found := _LABEL.match(peer.strip()):
            yield found[0]


def _with_pods(timeline: LogTimeline, one: Incident, pods: Sequence[Incident]) -> Incident:
    """Return a fault with its pods; what kubectl prints has no time, so the fault keeps its own."""
    lost = [part for part in pods if part.kind == _LOST]
    pods = [part for part in pods if part.kind != _LOST]
    names = tuple(sorted({name for pod in pods for name in _pods_of(timeline, pod)}))
    evidence = joined_evidence(one.evidence, *(part.evidence for part in (*pods, *lost)))
    subject = {**one.subject, **({"pod": names[0]} if len(names) == 1 else {"pods": names} if names else {})}
    effects = [pod for pod in pods if pod.root_cause in _EFFECTS]
    causes = [pod for pod in pods if pod.root_cause not in _EFFECTS]
    texts = [f"Cause: {pod.explanation}" for pod in causes[:1]]
    if effects:
        texts.append(f"Effect ({_POD}): {effects[0].explanation}")
    if lost:
        at = time_text(start_of(lost))
        texts.append(f"The controller fenced the broker at {at}: an earlier start of the server had ended before that.")
    return one._replace(
        t_start_ms=start_of((one, *lost)),
        subject=subject,
        evidence=evidence,
        explanation=" ".join((one.explanation, *texts)),
        next_step=" ".join(dict.fromkeys((*(pod.next_step for pod in causes[:1]), one.next_step))),
    )
