"""EOS-BRK-001."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.analysis.coordinators import TRANSACTION_STATE_TOPIC
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.partition_commands import add_replicas, after_return, broker_ids
from eosctl.checks.settings import number
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.snapshot import Topic
from eosctl.model.verdict import Evidence, Resource


def _has_transaction_log(case: Case) -> str:
    found = case.snapshot.topic(TRANSACTION_STATE_TOPIC) is not None
    return "" if found else "the cluster has no transaction log yet: transactions have not been used"


@check(
    "EOS-BRK-001",
    "Transaction log is not durable",
    Area.BROKER,
    Severity.ERROR,
    needs=frozenset({EvidenceKind.TOPICS, EvidenceKind.TOPIC_CONFIGS}),
    tags=("durability", "configuration"),
    references=("KIP-98", "transaction.state.log.replication.factor", "transaction.state.log.min.isr"),
    applies=_has_transaction_log,
)
def transaction_log_not_durable(case: Case) -> Iterator[Problem]:
    """Find a transaction log that the loss of one broker can damage or stop.

    What it checks:
        __transaction_state as it is: at least three replicas for each partition, or one for each broker where there are
        fewer than three; min.insync.replicas of at least two, and below the number of replicas.

    Why it matters for exactly-once:
        The log holds every transaction's outcome and every producer's epoch. With too few replicas, or writes that wait
        for one of them only, a broker failure loses outcomes: prepared transactions hang, zombies are no longer fenced.
        With min.insync.replicas equal to the number of replicas, each broker restart stops all transactions.

    Example:
        transaction.state.log.replication.factor=1 from a development set-up. The setting counts only when the topic is
        created: raising it later changes nothing.

    Fix:
        Add replicas with kafka-reassign-partitions.sh, then set min.insync.replicas of the topic. Never delete the
        topic, and never add partitions to it.

    Verify:
        kafka-topics.sh --describe --topic __transaction_state, and this check passes.
    """
    topic = case.snapshot.topic(TRANSACTION_STATE_TOPIC)
    if topic is None or not topic.partitions:
        return
    wanted = min(case.limits.transaction_log_replication_factor, max(1, len(broker_ids(case.snapshot))))
    replicas = min(len(info.replicas) for info in topic.partitions)
    if replicas < wanted:
        yield _problem(
            topic,
            case,
            f"{TRANSACTION_STATE_TOPIC} has partitions with {replicas} of {wanted} replicas.",
            "The loss of a broker can lose transaction outcomes and producer epochs.",
            (
                Evidence("replicas", str(replicas), "Metadata"),
                Evidence("brokers", str(len(broker_ids(case.snapshot))), "Metadata"),
            ),
            add_replicas(topic, wanted, case.snapshot, case.bootstrap),
        )
    yield from _min_isr(topic, replicas, case)


def _min_isr(topic: Topic, replicas: int, case: Case) -> Iterator[Problem]:
    setting = topic.setting("min.insync.replicas")
    min_isr = number(setting)
    if setting is None or min_isr is None or replicas < case.limits.transaction_log_min_isr:
        return
    evidence = (
        Evidence("min.insync.replicas", f"{min_isr} ({setting.source.value})", setting.origin or "DescribeConfigs"),
        Evidence("replicas", str(replicas), "Metadata"),
    )
    # With two replicas a value of two stops everything at each restart, a value of one risks a loss: only a third
    # replica helps, and that is the other problem of this check.
    if min_isr < case.limits.transaction_log_min_isr and replicas > case.limits.transaction_log_min_isr:
        yield _problem(
            topic,
            case,
            f"{TRANSACTION_STATE_TOPIC} has min.insync.replicas={min_isr}: a decision counts as written on one broker "
            "alone.",
            "The loss of that broker loses transaction outcomes.",
            evidence,
            _set_min_isr(case, case.limits.transaction_log_min_isr),
        )
    elif min_isr >= replicas > case.limits.transaction_log_min_isr:
        yield _problem(
            topic,
            case,
            f"{TRANSACTION_STATE_TOPIC} has min.insync.replicas={min_isr} with {replicas} replicas.",
            "Every broker restart stops all transactions of the partitions it holds.",
            evidence,
            # A lower minimum would leave decisions on fewer brokers than today.
            add_replicas(topic, min_isr + 1, case.snapshot, case.bootstrap),
        )


def _set_min_isr(case: Case, count: int) -> tuple[Command, ...]:
    line = (
        f"kafka-configs.sh --bootstrap-server {case.bootstrap} --alter --entity-type topics "
        f"--entity-name {TRANSACTION_STATE_TOPIC} --add-config min.insync.replicas={count}"
    )
    return (Command(line),)


def _problem(
    topic: Topic, case: Case, message: str, impact: str, evidence: tuple[Evidence, ...], commands: tuple[Command, ...]
) -> Problem:
    return Problem(
        resource=Resource("topic", topic.name),
        message=message,
        impact=impact,
        evidence=evidence,
        remedy=(
            *(() if commands else after_return(case.snapshot)),
            "Change the topic itself; the brokers' settings count only when it is created.",
        ),
        commands=commands,
        verify=(Command(f"eosctl check run EOS-BRK-001 -b {case.bootstrap}"),),
        facts=(("topic", topic.name),),
    )
