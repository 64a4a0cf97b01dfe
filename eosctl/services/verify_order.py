"""What a verification is asked to do, in plain values, and the order that is made of it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from eosctl.errors import UsageError
from eosctl.lab.verify.plan import RUN_PREFIX, ClientKind, VerifyPlan, Workload
from eosctl.lab.verify.play import NemesisKind, Order
from eosctl.lab.verify.targets import EngineOrder
from eosctl.model.emulation import NEWEST
from eosctl.sandbox.faults.bugs import parse_switch
from eosctl.sandbox.faults.kinds import WORDS

FAULT_KINDS: Final = WORDS
"""The kinds of faults, as help lists them."""
_SEEDS: Final = 1_000_000
K = TypeVar("K", bound=Enum)


class Work(NamedTuple):
    """The applications of a run.

    Attributes:
        workloads: Their names; all if empty.
        clients: The protocol of producers, or whose clients they are.
        duration_ms: How long transactions are begun, in milliseconds.
        rate_per_s: Transactions that each workload begins per second.
        id_count: Transactional ids of each workload.
        partition_count: Partitions of each topic.
        replica_count: Replicas of each; None for three, or as many as there are brokers.
        record_bytes: The size of a value.
        skew: How uneven partitions are chosen; 0 for even.
        hops: Steps of a chain.
        seed: Repeats the same choices; None draws one from the clock.
        prefix: Begins every topic, group, and id; None for a new one.
        keep: Whether the topics stay.
    """

    workloads: tuple[str, ...] = ()
    clients: str = "auto"
    duration_ms: int = 30_000
    rate_per_s: float = 20.0
    id_count: int = 3
    partition_count: int = 3
    replica_count: int | None = None
    record_bytes: int = 100
    skew: float = 0.0
    hops: int = 2
    seed: int | None = None
    prefix: str | None = None
    keep: bool = False


class Faults(NamedTuple):
    """The faults of a run.

    Attributes:
        nemeses: Who disturbs it: ``brokers``, ``links``, ``proxy``, or ``none``.
        kinds: Only these kinds; all that can be made if empty.
        program: A program that stops and starts brokers.
        gap_ms: The average pause between two faults, in milliseconds.
        guided: Whether each is chosen by what has been tried.
    """

    nemeses: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    program: Path | None = None
    gap_ms: int = 2_000
    guided: bool = False


class OwnCluster(NamedTuple):
    """A cluster to start for the run.

    Attributes:
        engine: ``embedded``, or a release of Apache Kafka.
        brokers: How many brokers it has.
        emulate: The release that an embedded one behaves as.
        transaction_version: The finalized level; None for the release's default.
        bugs: Known bugs that an embedded one has or lacks: ``NAME`` or ``NAME=off``.
    """

    engine: str = "embedded"
    brokers: int = 3
    emulate: str = NEWEST
    transaction_version: int | None = None
    bugs: tuple[str, ...] = ()


def engine_order(own: OwnCluster) -> EngineOrder:
    """Return the cluster to start.

    Raises:
        UsageError: A bug is not known.
    """
    bugs = tuple(map(parse_switch, own.bugs))
    return EngineOrder(own.engine, own.brokers, own.emulate, own.transaction_version, bugs)


def run_order(work: Work, faults: Faults, arguments: tuple[str, ...], now_ms: int) -> Order:
    """Return the order of a run.

    Args:
        work: The applications.
        faults: The faults.
        arguments: The command line, for the record.
        now_ms: The time, in ms since the epoch: it names the run, and seeds it where no seed is given.

    Raises:
        UsageError: A name is not known.
    """
    plan = VerifyPlan(
        prefix=work.prefix or f"{RUN_PREFIX}-{now_ms}",
        seed=now_ms % _SEEDS if work.seed is None else work.seed,
        workloads=tuple(_choose(Workload, name, "--workload") for name in work.workloads) or tuple(Workload),
        clients=_choose(ClientKind, work.clients, "--clients"),
        duration_ms=work.duration_ms,
        rate_per_s=work.rate_per_s,
        id_count=work.id_count,
        partition_count=work.partition_count,
        replica_count=work.replica_count,
        record_bytes=work.record_bytes,
        skew=work.skew,
        hops=work.hops,
    )
    return Order(
        plan,
        _nemeses(faults.nemeses),
        faults.program,
        faults.gap_ms,
        work.keep,
        kinds=faults.kinds,
        guided=faults.guided,
        arguments=arguments,
    )


def _choose(kind: type[K], name: str, option: str) -> K:
    try:
        return kind(name)
    except ValueError:
        known = ", ".join(str(one) for one in kind)
        raise UsageError(f"{option} {name!r} is not known.", f"It is one of {known}.", "Choose one.") from None


def _nemeses(names: Sequence[str]) -> tuple[NemesisKind, ...]:
    chosen = tuple(dict.fromkeys(_choose(NemesisKind, name, "--nemesis") for name in names))
    if NemesisKind.NONE in chosen and len(chosen) > 1:
        raise UsageError("--nemesis none goes with no other.", "It means that there are no faults.", "Leave it out.")
    return chosen
