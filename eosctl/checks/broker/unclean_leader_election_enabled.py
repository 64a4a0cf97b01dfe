"""EOS-BRK-003."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.settings import broker_values, set_on_all_brokers
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.setting import SettingSource
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import name_some

SETTING = "unclean.leader.election.enable"
_LOST_COORDINATION: Final = "Decided transactions, transactional ids, and committed offsets can be lost."


@check(
    "EOS-BRK-003",
    "Unclean leader election is enabled",
    Area.BROKER,
    Severity.ERROR,
    needs=frozenset({EvidenceKind.BROKER_CONFIGS, EvidenceKind.TOPIC_CONFIGS}),
    tags=("durability", "configuration"),
    references=("KIP-106", SETTING),
)
def unclean_leader_election_enabled(case: Case) -> Iterator[Problem]:
    """Find brokers and topics where a replica that missed records may become leader.

    What it checks:
        unclean.leader.election.enable on every broker and every topic. It is false by default since Kafka 0.11.

    Why it matters for exactly-once:
        An unclean leader drops records that were acknowledged, markers among them: committed records disappear, the
        state of producers goes back, and a read_committed reader sees other data than before. No exactly-once guarantee
        survives it.

    Example:
        The setting was turned on to get a partition back whose in-sync replicas were lost, and never turned off.

    Fix:
        Set it to false on the brokers, and remove it from topics that carry transactional data. A value of a single
        broker stands before the default of all brokers and must be removed.

    Verify:
        eosctl check run EOS-BRK-003 passes.
    """
    brokers = [found for found in broker_values(case.snapshot, SETTING) if found.setting.value == "true"]
    if brokers:
        yield Problem(
            resource=Resource("cluster", case.snapshot.cluster_id),
            message=f"{SETTING} is true on {name_some('broker', [str(found.broker_id) for found in brokers])}.",
            cause=f"It is set explicitly ({brokers[0].setting.source.value}); the default is false.",
            impact="Every topic that does not say otherwise can lose committed records and markers.",
            evidence=tuple(found.evidence for found in brokers),
            remedy=("Set it to false; it is dynamic, cluster-wide.",),
            commands=set_on_all_brokers(brokers, SETTING, "false", case.bootstrap),
            verify=(Command(f"eosctl check run EOS-BRK-003 -b {case.bootstrap}"),),
            facts=(("setting", SETTING),),
        )
    topics = [
        (topic, setting)
        for topic in case.snapshot.topics
        if (setting := topic.setting(SETTING)) is not None
        and setting.value == "true"
        and setting.source is SettingSource.DYNAMIC_TOPIC
    ]
    for topic, setting in topics:
        name = topic.name
        yield Problem(
            resource=Resource("topic", name),
            message=f"{SETTING} is true on topic {name}.",
            severity=Severity.ERROR if topic.internal else Severity.WARNING,
            cause="It is set on the topic itself.",
            impact=_LOST_COORDINATION if topic.internal else "The topic can lose committed records and markers.",
            evidence=(Evidence(SETTING, "true (dynamic-topic)", setting.origin or "DescribeConfigs"),),
            remedy=("Remove the setting if the topic carries transactional data.",),
            commands=(
                Command(
                    f"kafka-configs.sh --bootstrap-server {case.bootstrap} --alter --entity-type topics --entity-name "
                    f"{name} "
                    f"--delete-config {SETTING}"
                ),
            ),
            verify=(Command(f"eosctl check run EOS-BRK-003 -b {case.bootstrap}"),),
            facts=(("setting", SETTING), ("topic", name)),
        )
