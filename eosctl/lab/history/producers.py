"""Anomalies of producer ids and epochs: epochs that do not increase, and zombies that are not fenced."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.lab.history.anomaly import Anomaly, Kind, in_order
from eosctl.lab.history.events import Ended, EndInvoked, History, Identified, InitInvoked, Outcome


def check_epochs(history: History) -> Iterator[Anomaly]:
    """Yield identities that are not newer than one assigned before their request.

    A newer one has a higher epoch of the same producer id, or a producer id new to the transactional id.
    """
    newest: dict[str, Identified] = {}
    asked: dict[str, tuple[InitInvoked, Identified | None]] = {}
    first_of_id: dict[tuple[str, int], Identified] = {}
    for event in history:
        match event:
            case InitInvoked():
                asked[event.actor] = event, newest.get(event.transactional_id)
            case Identified():
                name = event.transactional_id
                invoked, before = asked.get(event.actor, (None, None))
                if invoked is not None and before is not None and not _is_newer(event, before, first_of_id):
                    subject = f"{_identity(event)} after {_identity(before)}"
                    former = first_of_id[name, event.producer_id]
                    proof = (before,) if before.producer_id == event.producer_id else (former, before)
                    if event.producer_epoch <= former.producer_epoch and former.at_ms <= invoked.at_ms:
                        proof = (former,)
                    yield Anomaly(Kind.EPOCH_REGRESSION, subject, in_order(*proof, invoked, event))
                first_of_id.setdefault((name, event.producer_id), event)
                current = newest.get(name)
                if current is None or _is_newer(event, current, first_of_id):
                    newest[name] = event


def check_owners(history: History) -> Iterator[Anomaly]:
    """Yield producer ids of two transactional ids."""
    owner: dict[int, Identified] = {}
    reported: set[tuple[int, str]] = set()
    for event in history:
        if not isinstance(event, Identified):
            continue
        first = owner.setdefault(event.producer_id, event)
        key = (event.producer_id, event.transactional_id)
        if first.transactional_id != event.transactional_id and key not in reported:
            reported.add(key)
            subject = f"{event.producer_id} of {first.transactional_id} and {event.transactional_id}"
            yield Anomaly(Kind.SHARED_PRODUCER_ID, subject, (first, event))


def check_zombies(history: History) -> Iterator[Anomaly]:
    """Yield transactions committed by a producer although its successor existed before the commit request.

    A successor is another actor that requested its identity after this producer had received its own.
    """
    identity: dict[str, Identified] = {}
    newest: dict[str, Identified] = {}
    asked: dict[str, tuple[InitInvoked, Identified | None]] = {}
    born: dict[Identified, tuple[InitInvoked, Identified | None]] = {}
    doubtful: dict[str, tuple[Identified, InitInvoked, Identified, EndInvoked]] = {}
    for event in history:
        match event:
            case InitInvoked():
                asked[event.actor] = event, newest.get(event.transactional_id)
            case Identified():
                if event.actor in asked:
                    born[event] = asked[event.actor]
                identity[event.actor] = newest[event.transactional_id] = event
            case EndInvoked(committed=True) if event.actor in identity:
                own = identity[event.actor]
                successor = newest[own.transactional_id]
                if successor.actor != event.actor and successor in born and born[successor][1] == own:
                    doubtful[event.transaction] = (own, born[successor][0], successor, event)
            case Ended(outcome=Outcome.COMMITTED) if event.transaction in doubtful:
                own, invoked, successor, asked_to_end = doubtful[event.transaction]
                subject = f"{event.transaction} by {_identity(own)} after {_identity(successor)}"
                witness = in_order(own, invoked, successor, asked_to_end, event)
                yield Anomaly(Kind.ZOMBIE_COMMIT, subject, witness)


def _is_newer(event: Identified, before: Identified, first_of_id: dict[tuple[str, int], Identified]) -> bool:
    if event.producer_id == before.producer_id:
        return event.producer_epoch > before.producer_epoch
    known = first_of_id.get((event.transactional_id, event.producer_id))
    return known is None or known is event


def _identity(event: Identified) -> str:
    return f"{event.transactional_id} ({event.producer_id}, epoch {event.producer_epoch})"
