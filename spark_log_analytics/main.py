"""Run the job for ``spark-submit``: scan logs, and write events, exceptions by minute, and incidents.

``spark-submit --py-files eosctl_logs.zip main.py PATH... --out DIR`` needs pyarrow and numpy on the executors. With
``SPARK_REMOTE=sc://host:15002`` the same program, started by Python itself, runs on a Spark Connect server.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Final, NamedTuple
from zoneinfo import ZoneInfo

from eosctl.errors import ExitCode
from eosctl.logs.files.sources import Unread
from eosctl.logs.files.urls import local_path
from eosctl.logs.pattern_string import layout_of_pattern
from eosctl.logs.scan import SPLIT_BYTES
from eosctl.logs.topics.address import TopicError, is_topic_url
from eosctl.model.incident import Incident
from eosctl.model.log_tables import PUBLISHED
from eosctl.model.period import Period
from eosctl.model.redaction import redact_text
from eosctl.text import count_text
from spark_log_analytics.earlier_results import foreign_verdict
from spark_log_analytics.incidents import explain_judging, incident_of, judge_events
from spark_log_analytics.job import (
    SMALL_FILE_EVENTS,
    Reading,
    collect_counts,
    in_one_task,
    in_period,
    plan_reading,
    scan_frame,
    whole_rows,
)
from spark_log_analytics.outcome import failure_line, job_errors, reason_of, report_problem, verdict_file, write_json
from spark_log_analytics.planning import planned_once
from spark_log_analytics.results import Run, frame_of, last_run_id
from spark_log_analytics.saving import SaveRequest, Scanned, baseline_run, save
from spark_log_analytics.session import session
from spark_log_analytics.sinks import FORMATS, Sink, SinkError, settings_of_format
from spark_log_analytics.stored import scan_stored
from spark_log_analytics.stored_files import Reading as StoredReading
from spark_log_analytics.task_table import task_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LISTING: Final = {"spark.sql.streaming.fileStreamSink.ignoreMetadata": "true"}
"""List directories without the metadata of Spark's streams; looking for it logs a stack trace for each glob."""
NOTHING: Final = "The input holds no file to read."
INCIDENTS: Final = "incidents.json"


def main(arguments: Sequence[str]) -> int:
    """Run the job.

    Returns:
        0 when all was read; 1 when the job failed, and the result is not complete; 2 when the input holds no file, or a
        file has the name of the result; 4 when the result is complete, but a file or a storage was not read, or no
        record was recognized.
    """
    options = _parse(arguments)
    folder = local_path(options.out)
    if folder is not None and folder.exists() and not folder.is_dir():
        report_problem(f"{folder} is a file. Name a directory for the result.")
        return 2
    layouts = () if options.pattern is None else (options.pattern,)
    period = Period(options.from_ms, options.until_ms)
    stored = [path for path in options.paths if not is_topic_url(path) and local_path(path) is None]
    try:
        reading = plan_reading((path for path in options.paths if path not in stored), options.zone, layouts, period)
    except TopicError as error:
        report_problem(str(error))
        return 1
    _report_unread(reading.unread)
    if not (reading.sources or reading.parts or stored):
        report_problem(NOTHING)
        return 2
    try:
        verdict = verdict_file(folder, INCIDENTS)
        if verdict is not None and (foreign := foreign_verdict(verdict, Incident._fields)):
            report_problem(foreign)
            return 2
        if folder is not None:
            options.out = str(folder)
        if verdict is not None:
            # An old verdict with new events, or without events, would be inconsistent.
            verdict.unlink(missing_ok=True)
        done = _scan_and_save(reading, stored, period, options)
        if done is None:
            return 1 if stored else 2
        if verdict is not None:
            write_json(verdict, [_plain(one) for one in done.incidents])
    except SinkError as error:
        report_problem(f"The job failed, and its result is not complete: {error}")
        return 1
    except job_errors() as error:
        report_problem(failure_line(error))
        return 1
    return _report(done, "file" if reading.sources or stored else "partition", options.out)


def _report(done: Done, what: str, out: str) -> int:
    """Report what was read and what was not; return the exit status."""
    named = {
        "partial": "not read to its end",
        "unrecognized": "no log record was recognized",
        "little": "most lines were not recognized",
    }
    by_status: dict[str, list[str]] = {}
    for row in done.run.coverage:
        by_status.setdefault(row["status"], []).append(row["file"])
        if row["status"] in named:
            reason = f": {row['reason']}" if row["reason"] else ""
            report_problem(f"{named[row['status']]}: {row['file']}{reason}")
    incidents = count_text(done.run.incident_count, "incident")
    counted = f"{count_text(done.run.event_count, 'event')} of {count_text(done.file_count, what)}, {incidents}"
    sys.stdout.write(f"{counted}: {out} (run {done.run.run_id}{'' if done.is_new else ', unchanged'})\n")
    is_strange = "unrecognized" in by_status and not by_status.keys() & {"read", "little", "partial"}
    return ExitCode.INCOMPLETE if is_strange or by_status.keys() & {"partial", "failed"} else ExitCode.DONE


def _report_unread(unread: Iterable[Unread]) -> None:
    """Name each input that should have been read and was not; count the others by the reason."""
    others: dict[str, list[str]] = {}
    for one in unread:
        if one.is_failure:
            report_problem(f"not read: {redact_text(one.name)}: {one.reason}")
        else:
            others.setdefault(one.reason, []).append(redact_text(one.name))
    for reason, names in others.items():
        what = names[0] if len(names) == 1 else f"{len(names):,} files, e.g. {names[0]}"
        sys.stderr.write(f"not read: {what}: {reason}\n")


class Done(NamedTuple):
    """The result of a job on the driver; the events stay on the executors.

    Attributes:
        run: The run with the tables.
        is_new: Whether its tables were written; otherwise, the last run has the same.
        file_count: The number of files that were read.
        incidents: The incidents.
    """

    run: Run
    is_new: bool
    file_count: int
    incidents: Sequence[Incident]


def _scan_and_save(reading: Reading, stored: Sequence[str], period: Period, options: argparse.Namespace) -> Done | None:
    """Scan, judge, and write the tables; return None without anything to read.

    ``stored`` are the URLs of what only Spark reads.

    Raises:
        SinkError: Spark cannot write the format, or the baseline has no run.
    """
    with session(settings={**LISTING, **settings_of_format(options.format)}) as spark:
        sink = Sink(spark, options.format, options.out)
        sink.check()
        if local_path(options.out) is None:
            _check_out(spark, sink, options.out)
        baseline_run_id = baseline_run(sink, options.baseline)
        here = scan_frame(spark, reading.sources, options.split_bytes, reading.parts)
        layouts = () if options.pattern is None else (options.pattern,)
        far = scan_stored(spark, stored, StoredReading(options.zone, layouts, options.split_bytes))
        _report_unread(far.unread)
        if not (reading.sources or reading.parts or far.summaries):
            if not any(one.is_failure for one in (*reading.unread, *far.unread)):
                report_problem(NOTHING)
            return None
        cached = [here.persist(), *far.cached]
        try:
            rows = reduce(type(here).unionByName, far.rows, here)
            splits = collect_counts(rows)
            summaries = (*reading.summarize(splits), *far.summaries)
            event_count = sum(split.kept_count for split in splits)
            is_small = event_count <= SMALL_FILE_EVENTS
            with planned_once(spark, is_small=is_small):
                everything = whole_rows(rows, reading, splits, stored_cuts=far.cuts)
                if is_small:
                    everything = in_one_task(everything)
                    cached.append(everything)
                events = in_period(everything, period)
                # Causes may be older than the period.
                judging = judge_events(everything, summaries, event_count)
                for line in explain_judging(judging, in_detail=options.explain):
                    sys.stderr.write(f"{line}\n")
                judged = in_period(judging.incidents, period, "t_start_ms", "t_end_ms").persist()
                cached += [judged, *judging.cached]
                found = [incident_of(row.asDict(recursive=True)) for row in judged.collect()]
                tasks = task_rows(splits, [cost for _, cost in judging.slices])
                scanned = Scanned(
                    everything=everything,
                    events=events,
                    judged=judged,
                    summaries=summaries,
                    unread=(*reading.unread, *far.unread),
                    tasks=tasks,
                )
                run, is_new = save(spark, sink, scanned, found, _request_of(options, period, baseline_run_id))
            return Done(run, is_new, len(summaries), found)
        except job_errors() as error:
            if reason := sink.obstacle(error):
                raise SinkError(reason) from error
            raise
        finally:
            for frame in cached:
                frame.unpersist()


def _check_out(spark: SparkSession, sink: Sink, out: str) -> None:
    """Check that a storage takes the result, before a long scan: a new one begins with an empty table of runs.

    Raises:
        SinkError: It does not.
    """
    try:
        if not last_run_id(sink, out):
            sink.append(frame_of(spark, PUBLISHED, []), PUBLISHED)
    except job_errors() as error:
        raise SinkError(f"{redact_text(out)} cannot be used for the result: {reason_of(error)}") from error


def _request_of(options: argparse.Namespace, period: Period, baseline_run_id: str) -> SaveRequest:
    # The address of a topic may name a temporary file of settings, and a URL may hold a key.
    inputs = [redact_text(path.partition("?")[0] if is_topic_url(path) else path) for path in options.paths]
    reading = {"zone": str(options.zone), "pattern": str(options.pattern)}
    return SaveRequest(
        inputs=inputs,
        out=options.out,
        period=period,
        baseline=options.baseline,
        baseline_run_id=baseline_run_id,
        reading=reading,
    )


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="spark_log_analytics", description="Scan logs on Spark.")
    parser.add_argument(
        "paths",
        nargs="+",
        help="logs: files and directories, the same on every executor, URLs that Spark reads, kafka://HOST:PORT/TOPIC",
    )
    parser.add_argument("--out", required=True, help="directory of the result")
    parser.add_argument("--format", choices=FORMATS, default="parquet", help="format of the tables")
    parser.add_argument("--baseline", help="directory of an earlier result: also write the new failures")
    parser.add_argument("--zone", type=ZoneInfo, help="time zone of timestamps without one, e.g. Europe/Berlin")
    parser.add_argument("--pattern", type=layout_of_pattern, help="the log4j or logback pattern of the files")
    parser.add_argument("--from-ms", type=int, help="start of the period, ms since the epoch")
    parser.add_argument("--until-ms", type=int, help="end of the period (exclusive), ms since the epoch")
    parser.add_argument("--explain", action="store_true", help="show how the events were divided for their verdict")
    parser.add_argument("--split-bytes", type=int, default=SPLIT_BYTES, help="bytes that a task reads")
    return parser.parse_args(arguments)


def _plain(one: Incident) -> dict[str, object]:
    evidence = [place._asdict() for place in one.evidence]
    return {**one._asdict(), "severity": one.severity.value, "evidence": evidence}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
