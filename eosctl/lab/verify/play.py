"""A run from order to record: connections, nemeses, and results."""

from __future__ import annotations

import asyncio
import dataclasses
import random
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from eosctl import __version__
from eosctl.analysis.coordinators import CONSUMER_OFFSETS_TOPIC
from eosctl.client import Client, connect
from eosctl.client.access import program_access
from eosctl.client.metadata import parse_metadata
from eosctl.client.outcome import Failure, error_for_code
from eosctl.client.ports import WallClock
from eosctl.client.sockets import SocketConnector
from eosctl.errors import UsageError
from eosctl.lab.faults import matching_kinds
from eosctl.lab.history.coverage import Coverage
from eosctl.lab.history.events import History
from eosctl.lab.proxy.proxy import FaultProxy
from eosctl.lab.recording import Recorder
from eosctl.lab.verify.conduct import Disturbance, Nemesis, Progress, conduct
from eosctl.lab.verify.driver import Driver, start_driver
from eosctl.lab.verify.drivers.programs import prepare_driver
from eosctl.lab.verify.guide import Guide
from eosctl.lab.verify.links import LINK_RANGES, LinkNemesis
from eosctl.lab.verify.nemesis import COMMAND_KIND, CombinedNemesis, CommandNemesis
from eosctl.lab.verify.plan import ClientKind, FaultRange, PlannedFault, VerifyPlan, draw_faults
from eosctl.lab.verify.proxied import proxy_for, proxy_nemesis, proxy_ranges, through
from eosctl.lab.verify.runs import RunRecord
from eosctl.lab.verify.scene import Scene
from eosctl.lab.verify.targets import Target, speaks_end_txn_5
from eosctl.model.client_config import ClientConfig
from eosctl.model.evidence import GapReason
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.internal.partitioner import partition_for
from eosctl.wire.messages.metadata import MetadataRequest, MetadataRequestTopic

#: Requests lost to a fault are retried after this time instead of Kafka's 30 s.
_REQUEST_TIMEOUT_MS: Final = 3_000
_OPERATION_TIMEOUT_MS: Final = 20_000


class NemesisKind(StrEnum):
    """The type of a nemesis."""

    NONE = "none"
    BROKERS = "brokers"
    LINKS = "links"
    PROXY = "proxy"


@dataclass(frozen=True, slots=True)
class Order:
    """The order of a run.

    Attributes:
        plan: The applications.
        nemeses: The nemeses.
        program: A user program that stops and starts brokers.
        gap_ms: Average pause between two faults.
        keep: Keep the topics.
        faults: Faults to use instead of drawn ones, for a replay.
        kinds: Draw only these kinds; all available ones if empty.
        guided: Select faults during the run, by coverage.
        arguments: The command line, for the record.
        where: The cluster, as the user named it.
    """

    plan: VerifyPlan
    nemeses: tuple[NemesisKind, ...] = ()
    program: Path | None = None
    gap_ms: int = 2_000
    keep: bool = False
    faults: tuple[PlannedFault, ...] | None = None
    kinds: tuple[str, ...] = ()
    guided: bool = False
    arguments: tuple[str, ...] = ()
    where: dict[str, Any] | None = None

    @property
    def disturbs(self) -> bool:
        """Return whether there are any faults."""
        return self.program is not None or any(kind is not NemesisKind.NONE for kind in self.nemeses)


class Played(NamedTuple):
    """A completed run."""

    record: RunRecord
    history: History


async def play(
    order: Order, target: Target, *, now_ms: WallClock, elapsed_ms: Callable[[], int], progress: Progress
) -> Played:
    """Run an order, through a proxy if requested, without checking the history.

    Args:
        order: The order.
        target: The cluster.
        now_ms: The wall clock.
        elapsed_ms: A monotonic clock for the history.
        progress: Receives the progress.

    Raises:
        UsageError: The cluster cannot have the requested faults, or does not support the protocol.
        EosctlError: It cannot be reached, or an application failed.
    """
    if NemesisKind.PROXY not in order.nemeses:
        return await _play(order, target, None, now_ms=now_ms, elapsed_ms=elapsed_ms, progress=progress)
    async with proxy_for(target.config, order.plan.seed) as proxy:
        behind = dataclasses.replace(target, config=through(target.config, proxy))
        return await _play(order, behind, proxy, now_ms=now_ms, elapsed_ms=elapsed_ms, progress=progress)


async def _play(
    order: Order,
    target: Target,
    proxy: FaultProxy | None,
    *,
    now_ms: WallClock,
    elapsed_ms: Callable[[], int],
    progress: Progress,
) -> Played:
    plan = order.plan
    if NemesisKind.LINKS in order.nemeses and plan.clients.is_driven:
        raise UsageError(
            f"--nemesis links cannot reach {plan.clients}.",
            "It has connections of its own.",
            "Use --nemesis proxy, or --clients tv1.",
        )
    link = LinkNemesis(SocketConnector())
    config = replace(
        target.config,
        request_timeout_ms=min(target.config.request_timeout_ms, _REQUEST_TIMEOUT_MS),
        connect_timeout_ms=min(target.config.connect_timeout_ms, _REQUEST_TIMEOUT_MS),
        timeout_ms=_OPERATION_TIMEOUT_MS,
    )
    nemesis = _nemesis(order, target, link, proxy)
    ranges = _chosen(nemesis.ranges if nemesis is not None else (), order.kinds)
    faults = order.faults
    fault_chance = random.Random(f"faults {plan.seed}")
    if faults is None:
        faults = () if order.guided else draw_faults(ranges, fault_chance, plan.duration_ms, order.gap_ms)
    known = {one.kind for one in ranges}
    if unknown := sorted({fault.kind for fault in faults} - known):
        raise UsageError(
            f"The fault {unknown[0]} cannot be made here.",
            f"There are: {', '.join(sorted(known)) or 'none'}.",
            "Name others, or a nemesis that makes it: eosctl verify run --help",
        )
    chance = random.Random(f"clients {plan.seed}")
    is_guided = order.guided and order.faults is None and bool(ranges)
    guide = Guide(ranges, fault_chance, order.gap_ms, Coverage()) if is_guided else None
    recorder = Recorder(elapsed_ms, coverage=guide.coverage if guide is not None else None, view=coordinator_view)
    scene = Scene(
        plan,
        recorder,
        lambda: connect(config, connector=link, chance=random.Random(chance.getrandbits(64))),
        now_ms,
    )
    began_at_ms = now_ms()
    async with scene.connect() as client:
        ends_with_5 = await speaks_end_txn_5(client, plan.clients)
    async with _driver(plan.clients, config, progress) as scene.driver:
        if scene.driver is not None:
            await scene.driver.greet(f"{plan.prefix}-first")
        done = await conduct(scene, Disturbance(faults, nemesis, guide), keep=order.keep, progress=progress)
    record = RunRecord(
        run_id=f"{began_at_ms}-{plan.seed}",
        plan=plan,
        where=order.where or {},
        cluster_id=target.cluster_id,
        cluster=target.words,
        faults=done.faults if guide is not None else faults,
        fault_kinds=tuple(sorted(known)),
        speaks_end_txn_5=ends_with_5,
        unsettled=done.unsettled,
        refused_faults=done.refused_faults,
        left_topics=done.left_topics,
        began_at_ms=began_at_ms,
        eosctl_version=__version__,
        arguments=order.arguments,
    )
    return Played(record, recorder.packed)


@asynccontextmanager
async def _driver(clients: ClientKind, config: ClientConfig, progress: Progress) -> AsyncIterator[Driver | None]:
    if not clients.is_driven:
        yield None
        return
    access = program_access(config)
    with tempfile.TemporaryDirectory(prefix="eosctl-driver-") as scratch:
        progress(f"preparing {clients}")
        command = await asyncio.to_thread(prepare_driver, clients, Path(scratch))
        async with start_driver(command, Path(scratch) / "stderr", access) as driver:
            yield driver


def _chosen(ranges: Sequence[FaultRange], kinds: Sequence[str]) -> Sequence[FaultRange]:
    known = sorted({one.kind for one in ranges})
    chosen: set[str] = set()
    for asked in kinds:
        found = matching_kinds(asked, known)
        if not found:
            raise UsageError(
                f"--fault {asked!r} is not available here.",
                f"Available: {', '.join(known)}." if known else "Faults need --nemesis.",
                "Choose one of these, or another --nemesis.",
            )
        chosen |= found
    return [one for one in ranges if not kinds or one.kind in chosen]


def _nemesis(order: Order, target: Target, link: LinkNemesis, proxy: FaultProxy | None) -> CombinedNemesis | None:
    parts: list[tuple[Sequence[FaultRange], Nemesis]] = []
    if NemesisKind.BROKERS in order.nemeses:
        if target.nemesis is None:
            raise UsageError(
                "eosctl cannot stop the brokers of a cluster that it did not start.",
                "It has no hand on their processes.",
                "Use --command-nemesis PROGRAM, which stops and starts them, or --nemesis links.",
            )
        parts.append((target.ranges, target.nemesis))
    if NemesisKind.LINKS in order.nemeses:
        parts.append((LINK_RANGES, link))
    if proxy is not None:
        parts.append((proxy_ranges(target.broker_ids), proxy_nemesis(proxy)))
    if order.program is not None:
        ranges = (FaultRange(COMMAND_KIND, target.broker_ids, duration_ms=(2_000, 10_000)),)
        parts.append((ranges, CommandNemesis(order.program)))
    return CombinedNemesis(parts) if parts else None


#: A broker that takes longer than this may be one that has lost the group and does not know.
_PATIENCE_MS: Final = 1_000


async def coordinator_view(client: Client, group_id: str) -> tuple[int, int] | None:
    """Return the leader of a group's offsets and its epoch, None while brokers differ, are silent or know none.

    A broker to which no connection can be made is not counted: it answers for no group either.

    Raises:
        AuthorizationDenied: The principal may not describe the topic of the groups.
    """
    request = MetadataRequest([MetadataRequestTopic(name=CONSUMER_OFFSETS_TOPIC)], allow_auto_topic_creation=False)
    answers = await client.fan_out(
        client.cluster.node_ids, ApiKey.METADATA, lambda _: request, floor=7, timeout_ms=_PATIENCE_MS
    )
    views: set[tuple[int, int] | None] = set()
    for answer in answers.values():
        if not isinstance(answer, Failure):
            views.add(_leader(answer, group_id))
        elif answer.reason is not GapReason.UNREACHABLE:
            return None
    return views.pop() if len(views) == 1 else None


def _leader(answer: Any, group_id: str) -> tuple[int, int] | None:
    topic = parse_metadata(answer).topic(CONSUMER_OFFSETS_TOPIC)
    if topic is not None and topic.error is ErrorCode.TOPIC_AUTHORIZATION_FAILED:
        raise error_for_code(topic.error, f"Metadata of {CONSUMER_OFFSETS_TOPIC}", api_key=ApiKey.METADATA)
    if topic is None or not topic.partitions:
        return None
    found = topic.partitions[partition_for(group_id, len(topic.partitions))]
    return None if found.leader_id is None else (found.leader_id, found.leader_epoch)
