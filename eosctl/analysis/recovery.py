"""What a mirror between two clusters carries over, what it does not, and what is set wrong, from its configuration.

Sources: KIP-382 and MirrorMaker's defaults (MirrorConnectorConfig, DefaultTopicFilter, MirrorCheckpointConfig of 3.9
and 4.3); the settings of cluster links are Confluent's. Transaction state belongs to the cluster that wrote it: no
mirror carries coordinators, producer ids, epochs or markers over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from eosctl.analysis.mirror_flows import LEVEL, Flow, flows_of, mirrors, support_without_effect, without_effect
from eosctl.model.deployment import Component, Deployment, Place, Value
from eosctl.model.recovery import Carried, Fate, is_link

_INTERNAL: Final = ("__transaction_state", "__consumer_offsets")
_EXCLUDED: Final = r".*[\-\.]internal, .*\.replica, __.*"
_DURABLE: Final = 3


class _Flow(NamedTuple):
    mirror: Component
    source: str
    target: str

    def __str__(self) -> str:
        return f"{self.source}->{self.target}" if self.source or self.target else self.mirror.name

    def value(self, *names: str) -> Value | None:
        """Return the most particular of the values that hold for this flow."""
        for name in names:
            for key in (f"{self}.{name}", name):
                if key in self.mirror.given:
                    return self.mirror.given[key]
        return None

    def word(self, name: str, default: str) -> str:
        found = self.value(name)
        return (found.word or "") if found is not None else default

    @property
    def route(self) -> Flow:
        return Flow(self.mirror, self.source, self.target)

    def is_on(self, name: str, default: bool) -> bool:
        found = self.value(name)
        return default if found is None else found.flag is True

    def place(self, *names: str) -> Place | None:
        found = self.value(*names)
        return found.place if found is not None else None


def explain_carried(deployment: Deployment) -> tuple[Carried, ...]:
    """Return what each flow of each mirror carries over, in the order of the files."""
    return tuple(carried for flow in _flows(deployment) for carried in _explain(flow))


def _flows(deployment: Deployment) -> Iterator[_Flow]:
    for mirror in mirrors(deployment):
        if is_link(mirror):
            yield _Flow(mirror, "", "")
            continue
        for flow in flows_of(mirror):
            dedicated = flow.is_dedicated
            yield _Flow(mirror, flow.source or ("" if dedicated else "source"), flow.target or "target")


def _explain(flow: _Flow) -> Iterator[Carried]:
    named = str(flow)
    yield Carried(
        named,
        "transactions",
        Fate.LOST,
        "Coordinators, producer ids, epochs, fencing and what is open belong to the cluster that wrote them.",
        "Before the application starts there, stop it here: nothing fences one from the other.",
    )
    if is_link(flow.mirror):
        yield from _explain_link(flow)
        return
    yield from _internal_topics(flow)
    yield _records(flow)
    yield _mirror_itself(flow)
    yield _positions(flow)
    yield _names(flow)
    yield _replicas(flow)
    yield _rights(flow)
    yield _state(named)


def _internal_topics(flow: _Flow) -> Iterator[Carried]:
    wanted, excluded = flow.word("topics", ".*"), flow.word("topics.exclude", _EXCLUDED)
    for name in _INTERNAL:
        if _matches(wanted, name) and not _matches(excluded, name):
            yield Carried(
                flow=str(flow),
                what=name,
                fate=Fate.WRONG,
                detail="It is copied, though what it says holds for the brokers that wrote it alone.",
                remedy="Leave topics.exclude at its default, or add __.* to it.",
                place=flow.place("topics.exclude", "topics"),
            )


def _matches(patterns: str, name: str) -> bool:
    for pattern in patterns.split(","):
        try:
            if re.fullmatch(pattern.strip(), name):
                return True
        except re.error:
            continue
    return False


def _records(flow: _Flow) -> Carried:
    level = flow.route.source_consumer(LEVEL)
    if level is not None and (level.word or "").lower() == "read_committed":
        detail = "Records of committed transactions, without their bounds: a transaction arrives in parts."
        return Carried(
            flow=str(flow),
            what="records",
            fate=Fate.PARTLY,
            detail=detail,
            remedy="Expect the last transactions torn.",
            place=level.place,
        )
    lost = () if level is not None else without_effect(flow.mirror)
    unread = f" {lost[0].key} does not reach the consumer that reads the source cluster." if lost else ""
    return Carried(
        flow=str(flow),
        what="records",
        fate=Fate.WRONG,
        detail=f"Records of aborted transactions are copied too, and there they are committed.{unread}",
        remedy=f"Set {flow.route.advised_key(LEVEL)}=read_committed.",
        place=next((value.place for value in (level, *lost) if value is not None), None),
    )


def _mirror_itself(flow: _Flow) -> Carried:
    route, support = flow.route, flow.route.support()
    if route.is_exactly_once():
        place = support.place if support is not None else None
        return Carried(
            flow=str(flow),
            what="once each",
            fate=Fate.CARRIED,
            detail="The mirror writes with transactions.",
            remedy="",
            place=place,
        )
    unnamed = next(iter(support_without_effect(flow.mirror)), None)
    dropped = "" if unnamed is None else f" {unnamed.key} reaches no worker of this flow."
    name = f"{flow.target}.exactly.once.source.support" if route.is_dedicated else "exactly.once.source.support"
    where = "" if route.is_dedicated else " on the workers of Connect"
    return Carried(
        flow=str(flow),
        what="once each",
        fate=Fate.PARTLY,
        detail=f"A mirror that restarts copies some records again.{dropped}",
        remedy=f"Set {name}=enabled{where} (3.5 and later), or recognize duplicates behind it.",
        place=next((value.place for value in (support, unnamed) if value is not None), None),
    )


def _positions(flow: _Flow) -> Carried:
    if not flow.is_on("emit.checkpoints.enabled", True):
        return Carried(
            flow=str(flow),
            what="positions",
            fate=Fate.WRONG,
            detail="Without checkpoints, a group's positions cannot be translated, and offsets differ between "
            "clusters.",
            remedy="Leave emit.checkpoints.enabled at true, set sync.group.offsets.enabled=true.",
            place=flow.place("emit.checkpoints.enabled"),
        )
    if flow.is_on("sync.group.offsets.enabled", False):
        detail = (
            "Translated and committed there while the group is empty; they lag, so the last records are read again."
        )
        return Carried(
            flow=str(flow),
            what="positions",
            fate=Fate.PARTLY,
            detail=detail,
            remedy="Expect duplicates.",
            place=flow.place("sync.group.offsets.enabled"),
        )
    return Carried(
        flow=str(flow),
        what="positions",
        fate=Fate.PARTLY,
        detail="Translated into the checkpoints topic, not committed: a group that starts there has none.",
        remedy="Set sync.group.offsets.enabled=true, or translate with RemoteClusterUtils before it starts.",
        place=flow.place("sync.group.offsets.enabled"),
    )


def _names(flow: _Flow) -> Carried:
    policy = flow.word("replication.policy.class", "DefaultReplicationPolicy").rpartition(".")[2]
    place = flow.place("replication.policy.class")
    if policy == "IdentityReplicationPolicy":
        return Carried(
            flow=str(flow),
            what="topic names",
            fate=Fate.CARRIED,
            detail="They stay.",
            remedy="Never mirror the same topics back.",
            place=place,
        )
    return Carried(
        flow=str(flow),
        what="topic names",
        fate=Fate.PARTLY,
        detail=f"orders is {flow.source}.orders there, so an application that fails over reads another topic.",
        remedy="Give the application both names, as a pattern.",
        place=place,
    )


def _replicas(flow: _Flow) -> Carried:
    text = flow.word("replication.factor", "2")
    count = int(text) if text.isdigit() else 0
    if count >= _DURABLE:
        return Carried(
            flow=str(flow),
            what="replicas",
            fate=Fate.CARRIED,
            detail=f"{count} there.",
            remedy="",
            place=flow.place("replication.factor"),
        )
    return Carried(
        flow=str(flow),
        what="replicas",
        fate=Fate.PARTLY,
        detail=f"Topics are created with {text} there, which is less than exactly-once is kept by.",
        remedy="Set replication.factor=3.",
        place=flow.place("replication.factor"),
    )


def _rights(flow: _Flow) -> Carried:
    is_on = flow.is_on("sync.topic.acls.enabled", True)
    return Carried(
        flow=str(flow),
        what="access rules",
        fate=Fate.PARTLY if is_on else Fate.LOST,
        detail="Those of topics, as READ; those of transactional ids and groups never." if is_on else "None.",
        remedy="Make WRITE on the transactional ids and output topics, READ on the group, before the application "
        "starts.",
        place=flow.place("sync.topic.acls.enabled"),
    )


def _state(flow: str) -> Carried:
    return Carried(
        flow,
        "state stores",
        Fate.LOST,
        "Changelogs and positions are copied apart from each other, so together they match no moment.",
        "Build state anew from the mirrored input, or accept that it is off by the mirror's lag.",
    )


def _explain_link(flow: _Flow) -> Iterator[Carried]:
    synced = flow.is_on("consumer.offset.sync.enable", False)
    yield Carried(
        flow=str(flow),
        what="positions",
        fate=Fate.PARTLY if synced else Fate.WRONG,
        detail="Copied at intervals, so the last records are read again."
        if synced
        else "Not copied: every group starts anew.",
        remedy="Expect duplicates." if synced else "Set consumer.offset.sync.enable=true with filters for the groups.",
        place=flow.place("consumer.offset.sync.enable"),
    )
    granted = flow.is_on("acl.sync.enable", False)
    yield Carried(
        flow=str(flow),
        what="access rules",
        fate=Fate.CARRIED if granted else Fate.LOST,
        detail="Those that the filters name." if granted else "None.",
        remedy="" if granted else "Set acl.sync.enable=true with filters, or make them there.",
        place=flow.place("acl.sync.enable"),
    )
    yield Carried(
        str(flow),
        "what was open",
        Fate.LOST,
        "A transaction that was open when the link ended has no coordinator in the other cluster.",
        "After the promotion look for it: eosctl txn hanging.",
    )
    yield _state(str(flow))
