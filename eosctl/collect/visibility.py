"""Detect resources that brokers omit from lists because this principal may not describe them.

Metadata of all topics, ListTransactions, and ListGroups filter by DESCRIBE without an error. Requests that name a
resource return an authorization error. So a few names reveal what the lists omit: a random name, which only rules for
all names allow, and one name for each of the cluster's ACLs that could deny something.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Final, NamedTuple

from eosctl.collect.reader import Probed, ReadOnly, attempt, in_batches
from eosctl.model.cluster_state import AccessRules
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import describe_groups, describe_transactions, metadata

NAMES_PER_REQUEST: Final = 500
NAMED_IN_A_GAP: Final = 3
INTERNAL_TOPICS: Final = ("__transaction_state", "__consumer_offsets")
# AclOperation of Kafka's common.acl, as the bits of KIP-430: READ to DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS.
_EVERY_TOPIC_OPERATION: Final = sum(1 << operation for operation in (3, 4, 5, 6, 7, 8, 10, 11))


class Listed(NamedTuple):
    """A list that brokers filter: its kind of evidence, its resource type, and the error of a refusal."""

    kind: EvidenceKind
    resource_type: str
    plural: str
    error: ErrorCode


TOPICS: Final = Listed(EvidenceKind.TOPICS, "Topic", "topics", ErrorCode.TOPIC_AUTHORIZATION_FAILED)
TRANSACTIONAL_IDS: Final = Listed(
    EvidenceKind.TRANSACTIONS,
    "TransactionalId",
    "transactional ids",
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
)
GROUPS: Final = Listed(EvidenceKind.GROUPS, "Group", "groups", ErrorCode.GROUP_AUTHORIZATION_FAILED)


class _Answer(NamedTuple):
    """The denied names, and whether the first topic's authorized operations were complete."""

    refused: tuple[str, ...] = ()
    may_do_everything: bool = False


_Ask = Callable[[ReadOnly, Sequence[str]], Awaitable[_Answer]]


async def collect_visibility(
    reader: ReadOnly,
    kinds: frozenset[EvidenceKind],
    access: Probed[AccessRules | None],
    seen_topics: Iterable[str],
    random_name: Callable[[], str],
) -> tuple[EvidenceGap, ...]:
    """Return a gap for each list that may be incomplete; empty if everything is visible.

    Args:
        reader: The read-only client.
        kinds: The collected evidence; topics are always included.
        access: The cluster's ACLs, or the reason why this principal cannot read them.
        seen_topics: Topics in the metadata.
        random_name: Returns names that do not exist.
    """
    rules = access.value
    if rules is not None and not rules.enabled:
        return ()
    unread = [gap for gap in access.gaps if gap.reason is not GapReason.UNSUPPORTED]
    wanted: list[tuple[Listed, _Ask]] = []
    # Before Kafka 0.11, which added DescribeAcls, Metadata creates the requested topics.
    if rules is not None or unread:
        wanted.append((TOPICS, _ask_topics))
    if EvidenceKind.TRANSACTIONS in kinds:
        wanted.append((TRANSACTIONAL_IDS, _ask_transactional_ids))
    # DESCRIBE on the cluster, which is needed to read the ACLs, lists every group.
    if rules is None and kinds & {EvidenceKind.GROUPS, EvidenceKind.GROUP_OFFSETS}:
        wanted.append((GROUPS, _ask_groups))
    seen = frozenset(seen_topics)
    names = {listed: _names(listed, rules, seen, random_name) for listed, _ in wanted}
    answers = await asyncio.gather(*(_refused(reader, listed, ask, names[listed]) for listed, ask in wanted))
    # With allow.everyone.if.no.acl.found, a name without ACLs is open, and only the ACLs show which names have some.
    unproven = bool(unread) and answers[0].value.may_do_everything
    gaps: list[EvidenceGap] = []
    for (listed, _), answer in zip(wanted, answers, strict=True):
        gaps += answer.gaps
        if answer.value.refused:
            gaps.append(_hidden(listed, names[listed], answer.value.refused))
        elif unproven and not answer.gaps:
            gaps.append(_unknown(listed, unread[0]))
    return tuple(gaps)


def _names(
    listed: Listed, rules: AccessRules | None, seen: frozenset[str], random_name: Callable[[], str]
) -> dict[str, str]:
    """Return the names to query with their meaning; first a random one for all names without a rule."""
    names = {random_name(): f"any of the {listed.plural}"}
    if listed is TOPICS:
        names |= {name: name for name in INTERNAL_TOPICS}
    for rule in () if rules is None else rules.rules:
        if rule.resource_type != listed.resource_type or rule.resource_name == "*":
            continue
        if rule.pattern_type == "Prefixed":
            names[rule.resource_name + random_name()] = f"{rule.resource_name}*"
        elif listed is not TOPICS or rule.resource_name not in seen:
            names[rule.resource_name] = rule.resource_name
    return names


async def _refused(reader: ReadOnly, listed: Listed, ask: _Ask, names: Iterable[str]) -> Probed[_Answer]:
    refused: list[str] = []
    may_do_everything = False
    for number, batch in enumerate(in_batches(list(names), NAMES_PER_REQUEST)):
        answer, gaps = await attempt(listed.kind, f"{listed.plural} by name", partial(ask, reader, batch))
        if answer is None:
            # A broker without this request does not have the list either, which is a separate gap.
            unsupported = all(gap.reason is GapReason.UNSUPPORTED for gap in gaps)
            return Probed(_Answer(), () if unsupported else gaps)
        refused += answer.refused
        may_do_everything = may_do_everything or (number == 0 and answer.may_do_everything)
    return Probed(_Answer(tuple(refused), may_do_everything))


async def _ask_topics(reader: ReadOnly, names: Sequence[str]) -> _Answer:
    request = metadata.MetadataRequest(
        topics=[metadata.MetadataRequestTopic(name=name) for name in names],
        allow_auto_topic_creation=False,
        include_topic_authorized_operations=True,
    )
    answer = await reader.request_any(ApiKey.METADATA, request)
    refused = tuple(topic.name for topic in answer.topics if topic.name and topic.error_code == TOPICS.error)
    # Brokers before Kafka 2.3 do not return the operations: the value is negative then.
    first = next((topic.topic_authorized_operations for topic in answer.topics if topic.name == names[0]), 0)
    everything = first < 0 or first & _EVERY_TOPIC_OPERATION == _EVERY_TOPIC_OPERATION
    return _Answer(refused, everything and names[0] not in refused)


async def _ask_transactional_ids(reader: ReadOnly, names: Sequence[str]) -> _Answer:
    request = describe_transactions.DescribeTransactionsRequest(transactional_ids=list(names))
    answer = await reader.request_any(ApiKey.DESCRIBE_TRANSACTIONS, request)
    return _Answer(
        tuple(s.transactional_id for s in answer.transaction_states if s.error_code == TRANSACTIONAL_IDS.error)
    )


async def _ask_groups(reader: ReadOnly, names: Sequence[str]) -> _Answer:
    request = describe_groups.DescribeGroupsRequest(groups=list(names))
    answer = await reader.request_any(ApiKey.DESCRIBE_GROUPS, request)
    return _Answer(tuple(group.group_id for group in answer.groups if group.error_code == GROUPS.error))


def _hidden(listed: Listed, names: dict[str, str], refused: Sequence[str]) -> EvidenceGap:
    by_default = next(iter(names)) in refused
    places = sorted(names[name] for name in refused)
    shown = ", ".join(places[:NAMED_IN_A_GAP]) + (f" and {len(places) - 3} more" if len(places) > 3 else "")
    return EvidenceGap(
        listed.kind,
        "names that this principal may not describe" if by_default else shown,
        GapReason.HIDDEN,
        detail=f"Brokers answer {listed.error.name}, and leave such {listed.plural} out of lists without an error.",
        next_step=_grant(listed, everything=by_default),
    )


def _grant(listed: Listed, *, everything: bool) -> str:
    if everything:
        # Topics are read as well, and READ implies DESCRIBE.
        operation = "Read" if listed is TOPICS else "Describe"
        return (
            f"Grant {operation} on {listed.plural.removesuffix('s')} '*'; eosctl check acl doctor prints the commands."
        )
    return f"Grant Describe on these {listed.plural}, or remove the rule that denies it."


def _unknown(listed: Listed, unread: EvidenceGap) -> EvidenceGap:
    why = unread.error or unread.reason.value
    return EvidenceGap(
        listed.kind,
        "names with access rules of their own",
        GapReason.HIDDEN,
        detail=f"The access rules could not be read ({why}), and {listed.plural} without rules are open to everyone.",
        next_step="Grant Describe on the cluster, so that the access rules can be read.",
    )
