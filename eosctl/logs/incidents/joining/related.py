"""Make the effects of a fault a part of its incident, by the relations that ``relations`` declares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.joining.absorbing import effect, gathered, with_parts, worst_of
from eosctl.logs.incidents.joining.relations import RELATIONS, Link, Relation
from eosctl.logs.incidents.servers.coordinators import Coordinators
from eosctl.logs.incidents.timeline.index import Intervals
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.model.incident import Incident
from eosctl.model.severity import Severity
from eosctl.text import time_text

BEFORE_MS: Final = 5_000
"""Maximum time by which an effect may be noticed before its cause."""
_IDENTITIES: Final = ("transactional.id", "group", "connector.task", "client.id", "producerId", "application.id")
_UNEXPLAINED: Final = "unexplained"
_SAID_CHARACTERS: Final = 24
"""Minimum length of an error's text that identifies it."""


def join_related(timeline: LogTimeline, incidents: Sequence[Incident]) -> Iterator[Incident]:
    """Yield incidents; each effect has become a part of the first fault that a relation connects it with."""
    links = _Links(timeline)
    causes = [_spans(incidents, relation) for relation in RELATIONS]
    said: dict[int, Relation] = {}

    def home_of(one: Incident) -> Incident | None:
        for relation, spans in zip(RELATIONS, causes, strict=True):
            if _may_be_effect(one, relation):
                near = (cause for cause in spans.touching(one.t_start_ms, one.t_start_ms) if cause is not one)
                cause = next((cause for cause in near if links.connect(one, cause, relation.link)), None)
                if cause is not None:
                    said[id(one)] = relation
                    return cause
        return None

    for one, effects in gathered(incidents, home_of):
        yield _with_effects(one, [(part, said[id(part)]) for part in effects]) if effects else one


def _may_be_effect(one: Incident, relation: Relation) -> bool:
    return one.kind in relation.effects and (not relation.unexplained or one.root_cause == _UNEXPLAINED)


def _spans(incidents: Sequence[Incident], relation: Relation) -> Intervals[Incident]:
    """Return the causes of a relation, each with the time in which its effects begin."""
    return Intervals(
        (one.t_start_ms - BEFORE_MS, one.t_end_ms + relation.within_ms, one)
        for one in incidents
        if one.kind in relation.causes and one.severity is not Severity.INFO
    )


class _Links:
    """Decides whether the link of a relation connects two incidents."""

    def __init__(self, timeline: LogTimeline) -> None:
        self._timeline = timeline
        self._coordinators = Coordinators(timeline)

    def connect(self, one: Incident, cause: Incident, link: Link) -> bool:
        """Return whether an incident is an effect of a cause by a link, and names nothing that differs."""
        match link:
            case Link.TRANSACTIONS:
                return self._coordinators.serves(one, cause, "__transaction_state", "transactional.id")
            case Link.GROUPS:
                return self._coordinators.serves(one, cause, "__consumer_offsets", "group")
            case Link.WORDS:
                return _agree(one, cause) and _quotes(self._timeline, one, cause)


def _agree(one: Incident, cause: Incident) -> bool:
    return all(one.subject.get(name, of) == of for name in _IDENTITIES if (of := cause.subject.get(name)))


def _quotes(timeline: LogTimeline, one: Incident, cause: Incident) -> bool:
    """Return whether the records of an incident end with an error that the same program reported as the cause."""
    logs = {timeline.log_of(event) for event in timeline.evidence(cause)}
    own = [event for event in timeline.evidence(one) if timeline.log_of(event) in logs]
    said = {thrown for event in own if len(thrown := event.fields.get("thrown", "")) >= _SAID_CHARACTERS}
    texts = [text for event in timeline.evidence(cause) for text in (event.message, event.fields.get("thrown", ""))]
    return bool(said) and all(any(thrown in text for text in texts) for thrown in said)


def _with_effects(cause: Incident, found: Sequence[tuple[Incident, Relation]]) -> Incident:
    """Return a fault with its effects, one sentence for each relation."""
    whole = cause
    for relation in dict.fromkeys(relation for _, relation in found):
        own = [one for one, of in found if of is relation]
        first = min(own, key=lambda one: one.t_start_ms)
        who = next((str(name) for key in _IDENTITIES if (name := first.subject.get(key))), "a client")
        text = relation.sentence.format(who=who, at=time_text(first.t_start_ms))
        subject = {**{name: value for one in own for name, value in one.subject.items()}, **whole.subject}
        whole = with_parts(whole, own, effect(first.kind, text), subject=subject)
    return whole._replace(t_start_ms=cause.t_start_ms, severity=worst_of((cause, *(one for one, _ in found))))
