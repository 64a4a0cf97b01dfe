"""``eosctl logs data``: statistics on transactions from Kafka's own files, over all partitions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation, note
from eosctl.commands.emit import emit
from eosctl.commands.logs.options import BusinessKey, Engine, Topics
from eosctl.commands.options import ResultOptions
from eosctl.commands.session import perform
from eosctl.errors import ExitCode
from eosctl.render.logs.kafka_data import DataReading, render_kafka_data
from eosctl.services import mine_data as service
from eosctl.services.log_engine import EngineChoice


def mine_data(
    invocation: Invocation,
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="Data directories (log.dirs) of one cluster's brokers, or copies."),
    ],
    topic: Topics = None,
    business_key: BusinessKey = None,
    engine: Engine = EngineChoice.AUTO,
    *,
    result: ResultOptions,
) -> None:
    """Measure transactions in Kafka's data files.

    Reports the durations of transactions, abort ratios, markers, sequence gaps, and duplicate keys. Of a partition's
    replicas, the one with the highest end offset is read. Nothing is changed and no cluster is needed.

    Exit codes: 0 done, 2 bad input, 4 a file could not be read to its end.

    Examples:
        eosctl logs data /var/lib/kafka
        eosctl logs data broker-*/data --topic orders --business-key header:order-id
    """
    request = service.DataRequest(tuple(paths), tuple(topic or ()), business_key, engine)
    mined = perform(service.mine_data, request, invocation)
    for damage in mined.summary.damages:
        note(f"not read: {damage.file}, byte {damage.position}: {damage.kind}: {damage.what}")
    reading = DataReading(mined.summary, mined.directory_count, mined.other_replica_count, business_key)
    text = render_kafka_data(reading, invocation.now_ms(), result.output, invocation.style())
    emit(text, result, code=ExitCode.INCOMPLETE if mined.summary.damage_count else ExitCode.DONE)
