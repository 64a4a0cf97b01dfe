"""``eosctl capacity observe``: the workload that a cluster runs, seen through logs, metrics or saved snapshots."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer

from eosctl.commands.invocation import Invocation, write_file, write_result
from eosctl.commands.options import ClusterOptions, parse_duration_ms
from eosctl.commands.session import perform
from eosctl.errors import UsageError
from eosctl.services.observe_workload import ObserveRequest, observe_workload

METRICS: Final = "From metrics"
SAVED: Final = "From saved snapshots"
_duration = partial(typer.Option, metavar="DURATION", parser=parse_duration_ms)
_metrics = partial(typer.Option, rich_help_panel=METRICS)
_saved = partial(typer.Option, rich_help_panel=SAVED)


def observe(
    invocation: Invocation,
    path: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write the workload.")] = Path("workload.yaml"),
    interval_ms: Annotated[int, _duration("--interval", help="How long to watch.")] = "10s",  # type: ignore[assignment]
    metrics: Annotated[
        list[str] | None,
        _metrics(
            "--metrics",
            metavar="URL",
            help="http://HOST:PORT/metrics of jmx_exporter, or jmx://HOST:PORT; once for each broker.",
        ),
    ] = None,
    producers: Annotated[int | None, _metrics("--producers", min=1, help="Transactional producers in all.")] = None,
    reads: Annotated[list[str] | None, _metrics("--reads", metavar="TOPIC", help="What they read; repeatable.")] = None,
    snapshots: Annotated[
        list[Path] | None,
        _saved("--snapshot", metavar="FILE", help="Of doctor --save-snapshot; twice, for two moments."),
    ] = None,
    value: Annotated[str | None, _saved("--value", metavar="SIZE", help="Average record, e.g. '1 KiB'.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    *,
    cluster: ClusterOptions,
) -> None:
    """Watch a cluster for an interval and write the workload that it runs.

    Nothing is changed. With -b offsets are listed twice and what was appended in between is read, at most 8 MiB of each
    partition. --metrics reads the counters of all brokers twice instead, --snapshot what was saved before. Disks,
    network and commit intervals cannot be seen and are left for you to state.
    """
    if path.exists() and not force:
        raise UsageError(f"{path} exists.", "It is not replaced.", "Choose another name, or --force.")
    request = ObserveRequest(
        path.stem,
        cluster.connection,
        interval_ms,
        tuple(metrics or ()),
        producers,
        tuple(reads or ()),
        tuple(snapshots or ()),
        value,
    )
    write_file(perform(observe_workload, request, invocation), path)
    write_result(f"{path}\nNext\n  $ eosctl capacity plan {path}\n")
