"""``eosctl logs data``: what Kafka's own files say of transactions, over all partitions together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eosctl.commands.invocation import invocation_of, note, write_result
from eosctl.commands.logs.engine import Engine
from eosctl.commands.options import Output, OutputFile
from eosctl.commands.session import callbacks
from eosctl.errors import ExitCode
from eosctl.render.formats import OutputFormat
from eosctl.services.log_engine import EngineChoice

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
    from eosctl.services.mine_data import DataRequest
    from eosctl.services.mine_data import mine_data as mine

    invocation = invocation_of(context)
    request = DataRequest(tuple(paths), tuple(topic or ()), business_key, engine)
    with callbacks(invocation.now_ms) as shown:
        mined = mine(request, shown)
    for damage in mined.summary.damages:
        note(f"not read: {damage.file}, byte {damage.position}: {damage.kind}: {damage.what}")
    reading = DataReading(mined.summary, mined.directory_count, mined.other_replica_count, business_key)
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
