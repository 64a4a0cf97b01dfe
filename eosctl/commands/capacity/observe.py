"""``eosctl capacity observe``: the workload that a cluster runs, seen through logs, metrics or saved snapshots."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eosctl.commands.invocation import Invocation, invocation_of, note, write_file, write_result
from eosctl.commands.options import (
    Bootstrap,
    CommandConfig,
    Overrides,
    Profile,
    Timeout,
    parse_duration_ms,
)
from eosctl.errors import ConfigFileError, EosctlError, UsageError

if TYPE_CHECKING:
    from eosctl.capacity.observation import Observed
    from eosctl.client.ports import WallClock
    from eosctl.collect.reader import Probed
    from eosctl.model.broker_counters import BrokerCounters
    from eosctl.model.client_config import ClientConfig
    from eosctl.services.connection import Connection

METRICS = "From metrics"
SAVED = "From saved snapshots"
METRICS_TIMEOUT_MS = 30_000


def observe(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write the workload.")] = Path("workload.yaml"),
    interval_ms: Annotated[
        int, typer.Option("--interval", metavar="DURATION", parser=parse_duration_ms, help="How long to watch.")
    ] = "10s",  # type: ignore[assignment]
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metrics",
            metavar="URL",
            help="http://HOST:PORT/metrics of jmx_exporter, or jmx://HOST:PORT; once for each broker.",
            rich_help_panel=METRICS,
        ),
    ] = None,
    producers: Annotated[
        int | None,
        typer.Option("--producers", min=1, help="Transactional producers in all.", rich_help_panel=METRICS),
    ] = None,
    reads: Annotated[
        list[str] | None,
        typer.Option("--reads", metavar="TOPIC", help="What they read; repeatable.", rich_help_panel=METRICS),
    ] = None,
    snapshots: Annotated[
        list[Path] | None,
        typer.Option(
            "--snapshot",
            metavar="FILE",
            help="Of doctor --save-snapshot; twice, for two moments.",
            rich_help_panel=SAVED,
        ),
    ] = None,
    value: Annotated[
        str | None,
        typer.Option("--value", metavar="SIZE", help="Average record, e.g. '1 KiB'.", rich_help_panel=SAVED),
    ] = None,
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    timeout: Timeout = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
) -> None:
    """Watch a cluster for an interval and write the workload that it runs.

    Nothing is changed. With -b offsets are listed twice and what was appended in between is read, at most 8 MiB of each
    partition. --metrics reads the counters of all brokers twice instead, --snapshot what was saved before. Disks,
    network and commit intervals cannot be seen and are left for you to state.
    """
    from eosctl.capacity.workload_file import parse_workload
    from eosctl.services.connection import Connection

    invocation = invocation_of(context)
    if path.exists() and not force:
        raise UsageError(f"{path} exists.", "It is not replaced.", "Choose another name, or --force.")
    connection = Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout)
    if metrics and (snapshots or bootstrap):
        raise UsageError("--metrics goes with neither --snapshot nor -b.", "One source is enough.", "Choose one.")
    if snapshots and bootstrap:
        raise UsageError("--snapshot goes not with -b.", "One source is enough.", "Choose one.")
    if metrics:
        text = _measured(path.stem, metrics, producers, reads or [], interval_ms, invocation)
    elif snapshots:
        text = _saved(path.stem, snapshots, value)
    else:
        text = _watched(path.stem, connection, interval_ms, invocation)
    try:
        parse_workload(text, str(path))
    except ConfigFileError as refused:
        raise EosctlError(
            "Nothing was observed that can be planned.",
            f"No transactions ended, or their records could not be read ({refused.why.splitlines()[0]}).",
            "Watch for longer with --interval; check that __transaction_state can be read.",
        ) from refused
    write_file(text, path)
    write_result(f"{path}\nNext\n  $ eosctl capacity plan {path}\n")


def _watched(name: str, connection: Connection, interval_ms: int, invocation: Invocation) -> str:
    from eosctl.capacity.observation import write_observed
    from eosctl.commands.session import resolve_connection

    config = resolve_connection(connection).config
    probed = asyncio.run(_observed(config, interval_ms, invocation))
    for gap in probed.gaps:
        note(f"incomplete: {gap.subject}: {gap.error or gap.reason.value}. {gap.next_step}".rstrip())
    return write_observed(name, probed.value)


async def _observed(config: ClientConfig, interval_ms: int, invocation: Invocation) -> Probed[Observed]:
    from eosctl.client import connect
    from eosctl.collect.allowed import READ_ONLY_APIS
    from eosctl.collect.observation import observe_cluster

    async with connect(config, allowed_apis=READ_ONLY_APIS) as client:
        return await observe_cluster(client, interval_ms, invocation.now_ms)


def _measured(
    name: str, urls: list[str], producers: int | None, reads: list[str], interval_ms: int, invocation: Invocation
) -> str:
    from eosctl.capacity.metrics_observation import Known, write_measured

    if producers is None:
        raise UsageError(
            "--producers is missing.", "Metrics do not tell how many transactional producers there are.", "Give it."
        )
    before, after = asyncio.run(_read_twice(urls, interval_ms, invocation.now_ms))
    return write_measured(name, before, after, Known(producers, tuple(reads)))


async def _read_twice(
    urls: list[str], interval_ms: int, now_ms: WallClock
) -> tuple[tuple[BrokerCounters, ...], tuple[BrokerCounters, ...]]:
    from eosctl.collect.metrics.broker_counters import collect_counters

    before = await collect_counters(urls, now_ms, METRICS_TIMEOUT_MS)
    await asyncio.sleep(interval_ms / 1000)
    return before, await collect_counters(urls, now_ms, METRICS_TIMEOUT_MS)


def _saved(name: str, paths: list[Path], value: str | None) -> str:
    from eosctl.capacity.observation import write_observed
    from eosctl.capacity.quantities import QuantityError, parse_bytes
    from eosctl.capacity.snapshot_observation import observe_snapshots
    from eosctl.collect.bundles.snapshot_file import load_snapshot

    if value is None:
        raise UsageError("--value is missing.", "Snapshots know offsets, not the size of records.", "Give it.")
    if len(paths) > 2:
        raise UsageError(f"{len(paths)} snapshots were given.", "Rates are between two moments.", "Give two.")
    try:
        size = round(parse_bytes(value))
    except QuantityError as error:
        raise UsageError(f"--value: {error}.", "", "Correct the value.") from None
    *earlier, later = (load_snapshot(path) for path in paths)
    if not earlier:
        note("one snapshot has no rates of records: they are lower bounds, told in the file")
    return write_observed(name, observe_snapshots(earlier[0] if earlier else None, later, size))
