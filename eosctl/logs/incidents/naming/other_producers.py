"""Find the producer of another transactional id with which a fenced program continues its work.

Two instances that share an id fence each other until they get ids of their own. A framework that numbers its producers
may take the next number meanwhile: then the work continues, and the shared id stays a fault.
"""

from __future__ import annotations

from math import inf
from typing import Final, NamedTuple

from eosctl.logs.incidents.naming.resumed_work import QUIET_MS, WITHIN_MS, Failures
from eosctl.logs.incidents.timeline.evidence import place_text, short_text
from eosctl.logs.incidents.timeline.proofs import Proofs
from eosctl.logs.incidents.timeline.times import PLACE, time_of
from eosctl.logs.incidents.timeline.work import WORK, is_work
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import time_text

SEARCHED: Final = 2_000
"""Maximum number of records that are searched for one incident."""


class OtherProducer(NamedTuple):
    """The record that initialized another producer, and a sentence about it and the work that followed."""

    event: LogEvent
    text: str


def other_producer(proofs: Proofs, one: Incident, failures: Failures) -> OtherProducer | None:
    """Return the first new id that a fenced program initialized after its last refusal; None if it is refused again."""
    timeline, last = proofs.timeline, failures.last
    begin_ms, until_ms = time_of(last), time_of(last) + WITHIN_MS
    before = timeline.log_between(last, -inf, begin_ms, ("INIT_PRODUCER_ID",))
    known = {timeline.transactional_id(event) for event in before} | {str(one.subject.get("transactional.id", ""))}
    inits = proofs.between(last, begin_ms, until_ms, ("INIT_PRODUCER_ID",))[:SEARCHED]
    taken = [event for event in inits if PLACE(event) > PLACE(last) and timeline.transactional_id(event) not in known]
    if not taken or not (name := timeline.transactional_id(taken[0])):
        return None
    later = timeline.log_between(last, time_of(taken[0]), until_ms + QUIET_MS, failures.categories)
    if any(PLACE(event) > PLACE(taken[0]) for event in later):
        return None
    works = proofs.between(last, time_of(taken[0]), until_ms, WORK)[:SEARCHED]
    work = next((event for event in works if PLACE(event) > PLACE(taken[0]) and is_work(event)), None)
    shown = (
        f', and worked at {time_text(time_of(work))} ({place_text(work)}: "{short_text(work.message)}")' if work else ""
    )
    when = f"{time_text(time_of(taken[0]))} ({place_text(taken[0])})"
    return OtherProducer(taken[0], f"The fenced program continued with the producer of {name} at {when}{shown}.")
