"""``eosctl capacity init``: write a workload file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from eosctl.command_line.confirmation import read_line
from eosctl.command_line.invocation import write_file, write_result
from eosctl.errors import UsageError
from eosctl.model.workload import ApplicationKind
from eosctl.services.plan_capacity import describe_workload


def init_workload(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="File to write.")] = Path("workload.yaml"),
    kind: Annotated[ApplicationKind | None, typer.Option("--kind", help="Kind of application.")] = None,
    brokers: Annotated[str | None, typer.Option("--brokers", help="Number of brokers.")] = None,
    rate: Annotated[str | None, typer.Option("--rate", metavar="N/s", help="Record rate, e.g. 10000/s.")] = None,
    value: Annotated[
        str | None, typer.Option("--value", metavar="SIZE", help="Average size of a record, e.g. '1 KiB'.")
    ] = None,
    partitions: Annotated[str | None, typer.Option("--partitions", help="Number of partitions of the topics.")] = None,
    producers: Annotated[
        str | None, typer.Option("--producers", help="Total number of producers (Streams: threads).")
    ] = None,
    commit_interval: Annotated[
        str | None, typer.Option("--commit-interval", metavar="DURATION", help="Commit interval, e.g. '100 ms'.")
    ] = None,
    transaction_timeout: Annotated[
        str | None, typer.Option("--transaction-timeout", metavar="DURATION", help="Transaction timeout, e.g. '60 s'.")
    ] = None,
    force: Annotated[bool, typer.Option("--replace", help="Replace an existing file.")] = False,
) -> None:
    """Write a workload file.

    On a terminal, missing values are prompted for.

    Examples:
        eosctl capacity init
        eosctl capacity init pipeline.yaml --kind streams --rate 10000/s --value '1 KiB'
    """
    if path.exists() and not force:
        raise UsageError(f"{path} exists.", "It is not replaced.", "Choose another name, or --replace.")
    chosen = kind or ApplicationKind(_ask(f"Kind ({', '.join(ApplicationKind)})", None, "--kind"))
    answers = {
        "cluster.brokers": _ask("Brokers", brokers, "--brokers"),
        "topic.partitions": _ask("Partitions of its topics", partitions, "--partitions"),
        "topic.rate": _ask("Records per second, e.g. 10000/s", rate, "--rate"),
        "topic.value": _ask("Average record, e.g. 1 KiB", value, "--value"),
        "application.producers": _ask("Producers (Streams: threads) in all", producers, "--producers"),
        "application.commit_interval": _ask("Commit interval, e.g. 100 ms", commit_interval, "--commit-interval"),
    }
    if transaction_timeout is not None:
        answers["application.transaction_timeout"] = transaction_timeout
    text = describe_workload(path.stem, chosen, answers)
    write_file(text, path)
    write_result(f"{path}\nNext\n  $ eosctl capacity plan {path}\n")


def _ask(question: str, given: str | None, option: str) -> str:
    if given is not None:
        return given
    if not (answer := read_line(f"{question}: ") if sys.stdin.isatty() else ""):
        raise UsageError(f"{option} is missing.", "It was not typed at a terminal either.", f"Give {option}.")
    return answer
