"""``eosctl exporter``: serve Prometheus what no bean of Kafka tells."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Final

import typer
from msgspec.structs import replace

from eosctl.commands.invocation import invocation_of, note, write_result
from eosctl.commands.options import (
    DEFAULT_SECOND_LOOK,
    Bootstrap,
    CommandConfig,
    Overrides,
    Profile,
    SecondLookAfter,
    Timeout,
    parse_duration_ms,
    parse_listen,
)
from eosctl.commands.session import resolve_connection
from eosctl.model.evidence import EvidenceKind
from eosctl.render.prometheus import render_gauges
from eosctl.services.connection import Connection

if TYPE_CHECKING:
    from eosctl.model.snapshot import ClusterSnapshot
    from eosctl.model.transaction import TransactionLook
    from eosctl.monitoring.cluster_gauges import Gauge

# Records are not read: a look stays cheap however often it is taken.
LOOKED_AT: Final = frozenset(
    {
        EvidenceKind.TRANSACTIONS,
        EvidenceKind.PRODUCERS,
        EvidenceKind.OFFSETS,
        EvidenceKind.BROKER_CONFIGS,
        EvidenceKind.GROUPS,
        EvidenceKind.GROUP_OFFSETS,
    }
)


def exporter(
    context: typer.Context,
    listen: Annotated[
        str, typer.Option("--listen", metavar="HOST:PORT", help="Where Prometheus scrapes /metrics.")
    ] = "127.0.0.1:9308",
    interval: Annotated[
        int, typer.Option("--interval", metavar="DURATION", parser=parse_duration_ms, help="Pause between two looks.")
    ] = "30s",  # type: ignore[assignment]
    once: Annotated[bool, typer.Option("--once", help="Look once, print the page and end, without listening.")] = False,
    transaction_log: Annotated[
        bool,
        typer.Option(
            "--transaction-log",
            help="Follow __transaction_state as well, and count commits, aborts and timeouts; needs Read on the topic.",
        ),
    ] = False,
    second_look_after: SecondLookAfter = DEFAULT_SECOND_LOOK,
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    timeout: Timeout = None,
) -> None:
    """Serve Prometheus what no bean of Kafka tells: open and hanging transactions, what they pin, unstable offsets.

    It reads the cluster and changes nothing. While the cluster cannot be asked, eosctl_up is 0. Ctrl-C ends it.
    """
    from eosctl.client.client import connect
    from eosctl.collect.allowed import READ_ONLY_APIS
    from eosctl.collect.collector import Observer, collect_snapshot
    from eosctl.collect.reader import ReadOnly
    from eosctl.collect.transaction_ends import EndCounter
    from eosctl.monitoring.cluster_gauges import measure_cluster, measure_ends

    host, port = parse_listen(listen)
    resolved = resolve_connection(Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout))
    invocation = invocation_of(context)

    ends = EndCounter() if transaction_log else None

    async def look() -> ClusterSnapshot:
        observer = Observer(invocation.now_ms, second_look_after_ms=second_look_after)
        async with connect(resolved.config, allowed_apis=READ_ONLY_APIS) as client:
            snapshot = await collect_snapshot(client, observer, LOOKED_AT)
            gaps = await ends.follow(ReadOnly(client), snapshot) if ends is not None else ()
            return replace(snapshot, gaps=(*snapshot.gaps, *gaps))

    earlier: list[TransactionLook] = []

    def measure(snapshot: ClusterSnapshot) -> tuple[Gauge, ...]:
        gauges = measure_cluster(snapshot, *earlier)
        earlier[:] = snapshot.looks[-1:]
        return gauges if ends is None else (*gauges, measure_ends(ends.counts))

    if once:
        write_result(render_gauges(measure(asyncio.run(look()))))
        return

    async def serve() -> None:
        from eosctl.monitoring.exporter import Exporter

        running = Exporter(look, render_gauges, note, measure)
        async with await running.listen(host, port):
            note(f"serving http://{listen}/metrics")
            await running.refresh()
            await running.keep_fresh(interval)

    asyncio.run(serve())
