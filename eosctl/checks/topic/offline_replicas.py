"""EOS-TOP-003."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.snapshot import PartitionInfo
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import count_text, name_some


@check(
    "EOS-TOP-003",
    "Replicas are offline",
    Area.TOPIC,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.TOPICS}),
    tags=("availability",),
    references=(
        "KIP-112",
        "log.dirs",
        "replica.lag.time.max.ms",
    ),
)
def offline_replicas(case: Case) -> Iterator[Problem]:
    """Find brokers whose replicas are offline.

    What it checks:
        The offline replicas that the metadata lists, by broker: the broker is down, or the disk of the replica failed.

    Why it matters for exactly-once:
        Nothing is lost yet, but one failure less is left before writes are refused (EOS-TOP-002) or partitions are
        without leader (EOS-TOP-001).

    Example:
        A broker that did not come back after a restart; one failed disk of several (log directory offline).

    Fix:
        Start the broker, or replace the disk and restart it; its replicas catch up by themselves.

    Verify:
        kafka-topics.sh --describe --under-replicated-partitions prints nothing.
    """
    by_broker: dict[int, list[PartitionInfo]] = defaultdict(list)
    for topic in case.snapshot.topics:
        for info in topic.partitions:
            for node_id in info.offline_replicas:
                by_broker[node_id].append(info)
    for node_id, partitions in sorted(by_broker.items()):
        broker = case.snapshot.broker(node_id)
        down = broker is None or not broker.reachable or broker.fenced
        yield Problem(
            resource=Resource("broker", str(node_id)),
            message=f"Broker {node_id}: {count_text(len(partitions), 'replica')} offline.",
            cause="The broker is down." if down else "The broker runs: a log directory of it has failed.",
            impact="One failure less is left before writes are refused.",
            evidence=(
                Evidence("offline", name_some("partition", [str(info.partition) for info in partitions]), "Metadata"),
            ),
            remedy=(
                f"Start broker {node_id}."
                if down
                else "Find the failed directory in the broker's log, and replace the disk.",
            ),
            commands=(
                Command(
                    f"kafka-topics.sh --bootstrap-server {case.bootstrap} --describe --under-replicated-partitions"
                ),
            ),
            verify=(Command(f"eosctl check run EOS-TOP-003 -b {case.bootstrap}"),),
            facts=(("broker_id", node_id), ("offline_count", len(partitions))),
        )
