"""``eosctl capacity observe``: the workload that a cluster runs, seen through logs, metrics or saved snapshots."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation, write_file, write_result
from eosctl.command_line.option_groups import options
from eosctl.commands.options import ConnectionOptions, duration_option
from eosctl.commands.session import perform
from eosctl.errors import ExitCode, UsageError
from eosctl.services.observe_workload import ObserveRequest, observe_workload

_metrics = partial(typer.Option, rich_help_panel="From metrics")
_saved = partial(typer.Option, rich_help_panel="From saved snapshots")
_described = partial(typer.Option, rich_help_panel="From applications and descriptions")


ObserveOptions = Annotated[
    ObserveRequest,
    options(
        interval_ms=duration_option("--duration", help="Time to watch."),
        metrics=_metrics(
            "--metrics",
            metavar="URL",
            help="Metrics endpoint of a broker, http://HOST:PORT/metrics or jmx://HOST:PORT; once for each.",
        ),
        producers=_metrics("--producers", min=1, help="Total number of transactional producers."),
        reads=_metrics("--reads", metavar="TOPIC", help="Topic that the producers' applications read; repeatable."),
        snapshots=_saved("--snapshot", metavar="FILE", help="Of doctor --save-snapshot; twice, for two moments."),
        value=_saved("--value", metavar="SIZE", help="Average size of a record, e.g. '1 KiB'."),
        streams=_described(
            "--streams", metavar="URL", help="JMX of a Kafka Streams instance, jmx://HOST:PORT; once for each."
        ),
        descriptions=_described(
            "--description", metavar="FILE", help="Strimzi's resources, or aws kafka describe-cluster; repeatable."
        ),
        connection=ConnectionOptions,
    ),
]


def observe(
    invocation: Invocation,
    request: ObserveOptions,
    path: Annotated[Path, typer.Argument(metavar="FILE", help="Workload file to write.")] = Path("workload.yaml"),
    force: Annotated[bool, typer.Option("--replace", help="Replace an existing file.")] = False,
) -> None:
    """Measure a cluster and write its workload file.

    Nothing is changed. With -b, offsets are listed twice and the records appended in between are read, at most 8 MiB of
    each partition. --metrics reads the counters of all brokers twice instead, and --snapshot uses a saved snapshot.
    --description adds brokers, disks, and settings from a file; alone, it leaves what runs on them to be stated.
    --streams reads threads, commits, topics, and stores of Kafka Streams applications; together they make a plan.
    Network and commit intervals cannot be observed and must be added by hand. Exit code 4 if evidence is missing.

    Examples:
        eosctl capacity observe -b kafka-1:9092 --duration 60s
        eosctl capacity observe --description kafka.yaml -b kafka-1:9092
        eosctl capacity observe workload.yaml --metrics http://broker-1:9404/metrics
    """
    if path.exists() and not force:
        raise UsageError(f"{path} exists.", "It is not replaced.", "Choose another name, or --replace.")
    observed = perform(observe_workload, request._replace(name=path.stem), invocation)
    write_file(observed.text, path)
    write_result(f"{path}\nNext\n  $ eosctl capacity plan {path}\n")
    raise typer.Exit(ExitCode.INCOMPLETE if observed.gaps else ExitCode.DONE)
