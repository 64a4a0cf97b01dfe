"""Join a client that was refused with the coordinator's rollback of its transaction, if the client's own words name it.

librdkafka reports a fatal error without a transactional id, and a coordinator a rollback without a client. A program
that logs the ids of its producers shows that both are about the same transactions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.joining.absorbing import effect, gathered, with_parts
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import Incident
from eosctl.text import name_some, time_text

AFTER_MS: Final = 120_000
"""Maximum time from a rollback to the refusal: a program notices it with its next call, after twice max.block.ms."""
CLOCKS_MS: Final = 1_500
"""Maximum difference between the clocks of a client and a broker."""
_ROLLED_BACK: Final = "transaction_timeout"
_REFUSED: Final = frozenset({"invalid_producer_epoch", "producer_fenced"})
_NAMES: Final = ("transactional.id", "transactional.ids", "producerId")
_UNSEEN: Final = ", and no client's log here shows which it was"
_STEP: Final = "Add the client's log of this time, and find"
_OWN_STEP: Final = "Find"


def join_rolled_back_clients(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; a refused client without a name is a part of the first rollback that its program names."""
    found = tuple(incidents)
    servers = timeline.servers()
    rolled = [one for one in found if one.kind == _ROLLED_BACK and _id_of(one)]
    of_coordinators = [one for one in rolled if all(event.application in servers for event in timeline.evidence(one))]
    named: dict[int, Sequence[Incident]] = {}

    def home_of(one: Incident) -> Incident | None:
        if not of_coordinators or one.kind not in _REFUSED or any(one.subject.get(name) for name in _NAMES):
            return None
        named[id(one)] = own = [other for other in of_coordinators if _names(timeline, one, other)]
        return min(own, key=lambda other: other.t_start_ms, default=None)

    parts_of = {id(one): parts for one, parts in gathered(found, home_of)}
    seen = {id(other) for own in named.values() for other in own}
    for one in found:
        if id(one) in parts_of:
            whole = _seen(one) if id(one) in seen else one
            parts = parts_of[id(one)]
            yield _whole(whole, parts, [other for part in parts for other in named[id(part)]]) if parts else whole


def _id_of(one: Incident) -> str:
    named = one.subject.get("transactional.id", "")
    return named if isinstance(named, str) else ""


def _names(timeline: LogTimeline, refused: Incident, rolled: Incident) -> bool:
    """Return whether a program that was refused soon after a rollback names its transaction in its own words."""
    if not rolled.t_start_ms - CLOCKS_MS <= refused.t_start_ms <= rolled.t_end_ms + AFTER_MS:
        return False
    own = [event for event in timeline.evidence(refused) if event.application not in timeline.servers()]
    if not own:
        return False
    near = timeline.log_between(own[-1], rolled.t_start_ms - AFTER_MS, time_of(own[-1]))
    return any(_id_of(rolled) in event.message for event in near)


def _seen(one: Incident) -> Incident:
    """Return a rollback whose client's log is known."""
    return one._replace(
        explanation=one.explanation.replace(_UNSEEN, "", 1), next_step=one.next_step.replace(_STEP, _OWN_STEP, 1)
    )


def _whole(one: Incident, parts: Sequence[Incident], rolled: Sequence[Incident]) -> Incident:
    names = tuple(dict.fromkeys(_id_of(other) for other in rolled))
    who = name_some("producer", names) if len(names) > 1 else "producer"
    at = time_text(min(part.t_start_ms for part in parts))
    text = effect(parts[0].kind, f"its program learned so at {at}, when it was refused: the {who} must be replaced.")
    more = {name: value for part in parts for name, value in part.subject.items() if name == "application"}
    return with_parts(one, parts, text, subject={**more, **one.subject})
