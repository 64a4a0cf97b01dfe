"""Decide which incidents another one explains: outages have echoes, and several programs report one fault."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple, TypeAlias

from eosctl.logs.incidents.timeline.index import Intervals
from eosctl.model.incident import Incident

BEFORE_MS: Final = 5_000
AFTER_MS: Final = 30_000


class Explains(NamedTuple):
    """A cause whose consequences would be incidents by themselves.

    Attributes:
        cause: Kind of the incident that explains.
        consequences: Kinds that it explains when they begin during it or soon after.
        same_subject: Whether they must name the same transactional id or group.
        echoes: Kinds that it explains only if they are in doubt, because they can have other causes, too.
        before_ms: How long after its consequence it may begin or be noticed.
    """

    cause: str
    consequences: frozenset[str]
    same_subject: bool = False
    echoes: frozenset[str] = frozenset()
    before_ms: int = BEFORE_MS


CERTAIN: Final = 0.7
"""An incident with this confidence keeps its own cause, even if other incidents overlap with it."""

_CLUSTER_ECHOES: Final = frozenset(
    ["transaction_timeout", "producer_fenced", "invalid_producer_epoch", "out_of_order_sequence"]
)
"""Incidents of clients while leaders or coordinators are unavailable. They stop no application."""

_AFTER_A_REFUSAL: Final = frozenset({"invalid_producer_epoch", "unclean_stop"})
_DEATHS: Final = frozenset({"streams_uncaught_exception"})
"""Incidents of application threads that end because their producer was refused."""

EXPLANATIONS: Final = (
    Explains("clock_stepped", frozenset({"transaction_timeout"}), echoes=_CLUSTER_ECHOES),
    Explains(
        "not_enough_replicas",
        frozenset({"coordinator_failover", "controller_failover", "broker_crash", "broker_restart"}),
        echoes=_CLUSTER_ECHOES,
    ),
    Explains("log_dir_failure", frozenset(), echoes=_CLUSTER_ECHOES),
    Explains("coordinator_failover", frozenset(), echoes=_CLUSTER_ECHOES),
    Explains("controller_failover", frozenset(), echoes=_CLUSTER_ECHOES),
    Explains("broker_crash", frozenset(), echoes=_CLUSTER_ECHOES),
    Explains("broker_restart", frozenset(), echoes=_CLUSTER_ECHOES),
    Explains("broker_restart_clean", frozenset(), echoes=frozenset({"not_enough_replicas"})),
    Explains("hanging_transaction", frozenset({"transaction_timeout", "invalid_producer_epoch"}), same_subject=True),
    Explains(
        "poll_interval_exceeded",
        frozenset({"transaction_timeout", "producer_fenced", "unclean_stop"}),
        same_subject=True,
    ),
    Explains("task_migrated", frozenset({"transaction_timeout", "producer_fenced", "unclean_stop"}), same_subject=True),
    Explains("producer_fenced", _AFTER_A_REFUSAL, same_subject=True, echoes=_DEATHS),
    Explains("transaction_timeout", _AFTER_A_REFUSAL, same_subject=True, echoes=_DEATHS),
    Explains("state_store_corrupt", frozenset({"streams_uncaught_exception", "task_corrupted"}), same_subject=True),
    # An application checks its stores only after it has rejoined its group.
    Explains("task_corrupted", frozenset({"unclean_stop"}), same_subject=True, before_ms=60_000),
)
"""Causes before consequences. A duplicate transactional id that is certain is never a consequence."""


_RULES: Final = {rule.cause: rule for rule in EXPLANATIONS}

Key: TypeAlias = tuple[str, object]
_ANY_SUBJECT: Final[Key] = ("", None)
_NAMES: Final = ("transactional.id", "group", "application.id", "producerId")
_OWNERS: Final = ("application.id", "group")


def spans_of(incidents: Iterable[Incident]) -> Intervals[Incident]:
    """Return incidents as intervals, so that those of a period are found without a scan of all."""
    return Intervals((one.t_start_ms, one.t_end_ms, one) for one in incidents)


class Causes:
    """The incidents that may explain others, by kind and by subject."""

    def __init__(self, incidents: Iterable[Incident]) -> None:
        found: dict[tuple[str, Key], list[Incident]] = {}
        for one in incidents:
            if rule := _RULES.get(one.kind):
                for key in _keys_of_cause(one) if rule.same_subject else (_ANY_SUBJECT,):
                    found.setdefault((one.kind, key), []).append(one)
        self._spans = {key: spans_of(ones) for key, ones in found.items()}

    def explain(self, one: Incident) -> bool:
        """Return whether one of them explains an incident."""
        is_certain = one.confidence >= CERTAIN
        if is_certain and one.root_cause == "duplicate-transactional-id":
            return False
        # A client that another one fenced does not recover with the brokers.
        is_own = is_certain or one.root_cause in ("duplicate-transactional-id", "takeover-or-timeout")
        about = None
        for rule in EXPLANATIONS:
            if one.kind not in rule.consequences and (is_own or one.kind not in rule.echoes):
                continue
            if rule.same_subject and about is None:
                about = _keys_of_consequence(one)
            for key in (about or ()) if rule.same_subject else (_ANY_SUBJECT,):
                spans = self._spans.get((rule.cause, key))
                if spans is not None and spans.has(one.t_start_ms - AFTER_MS, one.t_start_ms + rule.before_ms):
                    return True
        return False


def _keys_of_cause(one: Incident) -> set[Key]:
    owner = one.subject.get("application.id") or one.subject.get("group")
    named = {("owner", prefix) for prefix in _prefixes(one)}
    return _keys(one) | named | ({("prefix", owner)} if owner else set())


def _keys_of_consequence(one: Incident) -> set[Key]:
    """Return the keys of a consequence: a Streams application id is also its group and its threads' id prefix."""
    return _keys(one) | {("prefix", prefix) for prefix in _prefixes(one)}


def _prefixes(one: Incident) -> set[str]:
    """Return each part of an incident's transactional id that ends before a hyphen."""
    named = one.subject.get("transactional.id")
    return {named[:place] for place, sign in enumerate(named) if sign == "-"} if isinstance(named, str) else set()


def _keys(one: Incident) -> set[Key]:
    subject = one.subject
    same = {(name, subject[name]) for name in _NAMES if subject.get(name)}
    return same | {("owner", str(subject[name])) for name in _OWNERS if name in subject}
