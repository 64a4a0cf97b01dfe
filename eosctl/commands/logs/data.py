"""``eosctl logs data``: what Kafka's own files say of transactions, over all partitions together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eosctl.commands.invocation import invocation_of, note, write_result
from eosctl.commands.logs.engine import Engine
from eosctl.commands.options import Output, OutputFile
from eosctl.errors import ExitCode, UsageError
from eosctl.render.formats import OutputFormat
from eosctl.services.log_engine import EngineChoice, spark_session, takes_spark

if TYPE_CHECKING:
    from eosctl.model.kafka_data import DataSummary
    from spark_log_analytics.kafka_data.plan import Plan


DataPaths = Annotated[
    list[Path],
    typer.Argument(metavar="DIR...", help="Data directories (log.dirs) of one cluster's brokers, or copies of some."),
]
Topics = Annotated[
    list[str] | None,
    typer.Option("--topic", metavar="NAME", help="Read this topic, and the internal ones; repeatable."),
]
BusinessKey = Annotated[
    str | None,
    typer.Option(
        "--business-key",
        metavar="KEY",
        help="Look for records that readers get twice, by key, header:NAME or value:FIELD (of JSON).",
    ),
]


def mine_data(
    context: typer.Context,
    paths: DataPaths,
    topic: Topics = None,
    business_key: BusinessKey = None,
    engine: Engine = EngineChoice.AUTO,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Read Kafka's data files: durations of transactions, abort ratios, markers, sequence gaps, duplicate keys.

    Of a partition's replicas the one that reaches furthest is read. Nothing is changed; no cluster is needed.

    Exit codes: 0 done, 2 usage, 4 a file could not be read to its end.
    """
    from eosctl.render.logs.kafka_data import DataReading, kafka_data_blocks, kafka_data_view
    from eosctl.render.machine import render_json, render_tsv, render_yaml
    from eosctl.render.page import render_page

    invocation = invocation_of(context)
    plan = plan_reading(paths, topic, business_key)
    reading = DataReading(
        _summarize(plan, business_key, takes_spark(engine, paths, note)),
        len(plan.directories),
        len(plan.other_replicas),
        business_key,
    )
    view = kafka_data_view(reading, "logs data", invocation.now_ms())
    match output:
        case OutputFormat.JSON:
            text = render_json(view)
        case OutputFormat.YAML:
            text = render_yaml(view)
        case OutputFormat.TSV:
            text = render_tsv(
                (
                    one.topic,
                    str(one.record_count),
                    str(one.committed_count),
                    str(one.aborted_count),
                    str(one.open_count),
                )
                for one in view.topics
            )
        case _:
            text = render_page(kafka_data_blocks(reading), invocation.style())
    write_result(text, output_file)
    raise typer.Exit(ExitCode.INCOMPLETE if reading.summary.damage_count else 0)


def plan_reading(paths: list[Path], topics: list[str] | None, business_key: str | None) -> Plan:
    """Find the partitions, after a look at the options.

    Raises:
        UsageError: There are none, they are of several clusters, or an option cannot be used.
    """
    from eosctl.services.log_places import existing
    from spark_log_analytics.kafka_data.plan import plan_partitions

    check_business_key(business_key)
    plan = plan_partitions(existing(paths), topics or ())
    for name in topics or ():
        if not any(directory.name.rpartition("-")[0] == name for directory in plan.directories):
            raise UsageError(f"There is no partition of topic {name!r}.", "", "Name a topic of these directories.")
    if not plan.directories:
        raise UsageError("There is no partition directory with segments.", "", "Name data directories, as in log.dirs.")
    if len(plan.cluster_ids) > 1:
        raise UsageError(
            f"These directories are of {len(plan.cluster_ids)} clusters: {', '.join(sorted(plan.cluster_ids))}.",
            "Partitions of the same name in two clusters are no replicas of each other.",
            "Read one cluster's directories at a time.",
        )
    return plan


def check_business_key(expression: str | None) -> None:
    """Refuse an expression that names no part of a record.

    Raises:
        UsageError: It does not.
    """
    from spark_log_analytics.kafka_data.business_key import FORMS, BusinessKeyError, parse_business_key

    if expression is not None:
        try:
            parse_business_key(expression)
        except BusinessKeyError as error:
            raise UsageError(str(error), "", f"Write {FORMS}.") from error


def _summarize(plan: Plan, business_key: str | None, on_spark: bool) -> DataSummary:
    from eosctl.render.progress import show_progress
    from spark_log_analytics.kafka_data.business_key import parse_business_key

    if on_spark:
        with spark_session(note) as spark:
            from spark_log_analytics.kafka_data.job import facts_frame, summarize_frame

            facts = facts_frame(spark, plan, business_key).persist()
            summary = summarize_frame(facts, plan, with_keys=business_key is not None)
            facts.unpersist()
    else:
        from spark_log_analytics.kafka_data.local import summarize_here

        key_of = None if business_key is None else parse_business_key(business_key)
        with show_progress() as tell:
            summary = summarize_here(plan, key_of, lambda directory: tell(directory.name))
    for damage in summary.damages:
        note(f"not read: {damage.file}, byte {damage.position}: {damage.kind}: {damage.what}")
    return summary
