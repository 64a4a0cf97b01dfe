"""``eosctl logs sql`` and ``logs dashboard``: the tables that ``logs submit`` has written."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation, note, write_result
from eosctl.commands.emit import emit_list
from eosctl.commands.logs.options import SparkOptions
from eosctl.commands.options import OutputFile, ResultOptions
from eosctl.commands.session import perform
from eosctl.errors import ExitCode
from eosctl.render.logs.dashboard import render_dashboard
from eosctl.render.logs.query import query_columns, query_items
from eosctl.services.query_logs import QueryEngine, QueryRequest, query_logs
from eosctl.services.summarize_result import SummaryRequest, summarize_result

Result = Annotated[str, typer.Argument(metavar="RESULT", help="Result of logs submit: a directory or a URL.")]
Engine = Annotated[QueryEngine, typer.Option("--engine", help="DuckDB (extra eosctl[sql]) or a local Spark.")]


def query_result(
    invocation: Invocation,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Query in SQL.")],
    result: Result,
    engine: Engine = QueryEngine.AUTO,
    *,
    spark: SparkOptions,
    output: ResultOptions,
) -> None:
    """Query the result of logs submit with SQL.

    Tables: events, exceptions, incidents, evidence, fencing, producers, coordinators, groups, coverage, new_failures,
    and published. The query reads the last complete run. For a result behind a URL, a local Spark reads it, which may
    need jars and settings.

    Exit codes: 0 done, 1 the result cannot be read, 2 bad query or no complete run in the result, 4 the run did not
    read all of its input.

    Examples:
        eosctl logs sql "SELECT root_cause, count(*) FROM incidents GROUP BY root_cause" /result
        eosctl logs sql "SELECT * FROM fencing" s3a://reports/november --jars hadoop-aws.jar -o tsv
    """
    answer = perform(query_logs, QueryRequest(query, result, engine, spark), invocation)
    if answer.gap:
        note(f"run {answer.run_id} is not complete: {answer.gap}")
    items, code = query_items(answer.columns, answer.rows), ExitCode.INCOMPLETE if answer.gap else ExitCode.DONE
    emit_list(("log-query", "logs sql"), items, query_columns(answer.columns), output, invocation, code=code)


def show_dashboard(
    invocation: Invocation,
    result: Result,
    engine: Engine = QueryEngine.AUTO,
    output_file: OutputFile = None,
    *,
    spark: SparkOptions,
) -> None:
    """Show the result of logs submit as an HTML page.

    The page has the root causes with examples of their records, warnings and errors over time, exceptions, new
    exceptions against the baseline, and the input that was not read. It needs no network.

    Exit codes: 0 done, 1 the result cannot be read, 2 the result has no complete run, 4 the run did not read all of its
    input.

    Examples:
        eosctl logs dashboard /result --output-file dashboard.html
        eosctl logs dashboard hdfs://nn:8020/result --engine spark --output-file dashboard.html
    """
    board = perform(summarize_result, SummaryRequest(result, engine, spark), invocation)
    write_result(render_dashboard(board), output_file)
    raise typer.Exit(ExitCode.DONE if board.is_complete else ExitCode.INCOMPLETE)
