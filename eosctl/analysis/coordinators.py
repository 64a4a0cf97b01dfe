"""The transaction coordinators' responses, and their completeness."""

from __future__ import annotations

from typing import Final

from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.snapshot import ClusterSnapshot, Topic
from eosctl.text import name_some

TRANSACTION_STATE_TOPIC: Final = "__transaction_state"
CONSUMER_OFFSETS_TOPIC: Final = "__consumer_offsets"


def missing_coordinators(snapshot: ClusterSnapshot) -> tuple[str, ...]:
    """Return the reasons why the list of transactional ids is incomplete; empty if every coordinator responded.

    A broker that leads no partition of `__transaction_state` is not a coordinator, so its silence does not count.
    """
    if EvidenceKind.TRANSACTIONS not in snapshot.collected:
        return ("transactions were not collected",)
    topic = snapshot.topic(TRANSACTION_STATE_TOPIC)
    leaders = None if topic is None else {info.leader_id for info in topic.partitions}
    missing = [
        _describe(gap)
        for gap in snapshot.gaps
        if gap.kind is EvidenceKind.TRANSACTIONS and _names_coordinators(gap) and _leads(gap, leaders)
    ]
    if topic is not None and (where := partitions_without_leader(topic)):
        missing.append(where)
    return tuple(missing)


def partitions_without_leader(topic: Topic) -> str:
    """Name the partitions whose ids or groups no broker coordinates; empty if each has a leader."""
    unled = [str(info.partition.partition) for info in topic.partitions if info.leader_id is None]
    if len(unled) == 1:
        return f"{topic.name}-{unled[0]} has no leader"
    return f"{name_some('partition', unled)} of {topic.name} have no leader" if unled else ""


def why_ids_are_missing(snapshot: ClusterSnapshot) -> tuple[str, ...]:
    """Return why an id that no coordinator listed may exist: coordinators without a response, and hidden ids."""
    hidden = [
        _describe(gap)
        for gap in snapshot.gaps
        if gap.kind is EvidenceKind.TRANSACTIONS
        and gap.reason is not GapReason.NO_LEADER  # as the topic shows
        and not _names_coordinators(gap)
    ]
    return (*missing_coordinators(snapshot), *hidden)


def cannot_list_transactions(snapshot: ClusterSnapshot) -> bool:
    """Return whether all coordinators that did not respond are older than ListTransactions (Kafka 3.0)."""
    gaps = [gap for gap in snapshot.gaps if gap.kind is EvidenceKind.TRANSACTIONS and _names_coordinators(gap)]
    return bool(gaps) and all(gap.reason is GapReason.UNSUPPORTED for gap in gaps)


def _names_coordinators(gap: EvidenceGap) -> bool:
    return gap.subject == "*" or gap.subject.startswith("broker ")


def _leads(gap: EvidenceGap, leaders: set[int | None] | None) -> bool:
    number = gap.subject.removeprefix("broker ")
    if leaders is None or not number.isdigit():
        return True
    return int(number) in leaders


def _describe(gap: EvidenceGap) -> str:
    return f"{gap.subject}: {gap.error or gap.reason.value}"


def hides_transactional_ids(snapshot: ClusterSnapshot) -> bool:
    """Return whether there are names of transactional ids that this principal may not describe."""
    return any(gap.kind is EvidenceKind.TRANSACTIONS and gap.reason is GapReason.HIDDEN for gap in snapshot.gaps)


def may_hide_transactional_ids(snapshot: ClusterSnapshot) -> bool:
    """Return whether ListTransactions may have omitted ids without an error.

    With an authorizer, a broker omits the ids that the principal may not describe. Without the brokers' settings, this
    is unknown.
    """
    if hides_transactional_ids(snapshot):
        return True
    settings = [broker.setting("authorizer.class.name") for broker in snapshot.brokers if broker.settings]
    if not settings:
        return True
    return any(setting is not None and setting.value for setting in settings)
