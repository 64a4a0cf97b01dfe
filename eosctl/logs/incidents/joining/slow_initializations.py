"""Make an initialization that timed out the beginning of the fencing that it led to.

A program that gets no producer id in time creates another producer with the same transactional id, and leaves the
request of the first one with the coordinator. When that is answered after the second one's, the program fences itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.joining.absorbing import absorb, with_parts
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.model.incident import Incident
from eosctl.text import time_text

WITHIN_MS: Final = 600_000
"""Maximum time from the timeout to the fencing; the coordinator drops a request whose connection has ended."""
_TIMEOUT: Final = "init_producer_id_timeout"
_FENCED_ITSELF: Final = "own-initialization-repeated"


def join_slow_initializations(_: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; a timeout before a program fenced itself is a part of that."""
    found = tuple(incidents)
    fenced = [one for one in found if one.root_cause == _FENCED_ITSELF]

    def home_of(one: Incident) -> Incident | None:
        return next((other for other in fenced if _leads_to(one, other)), None)

    yield from absorb(found, home_of, _whole)


def _leads_to(timeout: Incident, fencing: Incident) -> bool:
    named = timeout.subject.get("transactional.id")
    is_of_id = bool(named) and named == fencing.subject.get("transactional.id")
    return timeout.kind == _TIMEOUT and is_of_id and 0 <= fencing.t_start_ms - timeout.t_end_ms <= WITHIN_MS


def _whole(fencing: Incident, parts: Sequence[Incident]) -> Incident:
    first = min(one.t_start_ms for one in parts)
    return with_parts(
        fencing,
        parts,
        f"It began at {time_text(first)}, when an initialization of this id had no answer in time, and the program "
        "continued with another producer.",
    )
