"""Run the job for ``spark-submit``: read Kafka's files, and write their facts and a summary.

``spark-submit --py-files eosctl_kafka_data.zip --archives env.tar.gz#eosctl_kafka_data_env main.py DIR... --out DIR``
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Final

from eosctl.model.kafka_data import DataSummary
from eosctl.text import count_text
from spark_log_analytics.earlier_results import foreign_tables, foreign_verdict
from spark_log_analytics.kafka_data.environment import enter_environment
from spark_log_analytics.outcome import failure_line, job_errors, report_problem, write_json
from spark_log_analytics.session import session

SUMMARY: Final = "summary.json"


def main(arguments: Sequence[str]) -> int:
    """Run the job.

    Returns:
        0 if everything was read, 1 if something could not be read, 2 if no partition was found, or a file has the name
        of a part of the result.
    """
    options = _parse(arguments)
    summary_file = Path(options.out) / SUMMARY
    with session("eosctl kafka data") as spark:
        # The driver gets the same archive as the executors, because planning needs its packages.
        enter_environment()
        from spark_log_analytics.kafka_data.job import facts_frame, summarize_frame
        from spark_log_analytics.kafka_data.plan import plan_partitions
        from spark_log_analytics.kafka_data.rows import KINDS, SCHEMA_VERSION

        plan = plan_partitions([Path(path) for path in options.paths], options.topic)
        if not plan.directories:
            report_problem("No partition directory with segments was found.")
            return 2
        if len(plan.cluster_ids) > 1:
            report_problem(f"The directories belong to several clusters: {', '.join(sorted(plan.cluster_ids))}.")
            return 2
        tables = {kind: Path(options.out) / f"{kind}-v{SCHEMA_VERSION}" for kind in KINDS if kind != "tally"}
        if foreign := foreign_verdict(summary_file, DataSummary._fields) or foreign_tables(tables.values()):
            report_problem(foreign)
            return 2
        try:
            # An old summary next to new facts, or without facts, would be inconsistent.
            summary_file.unlink(missing_ok=True)
            facts = facts_frame(spark, plan, options.business_key).persist()
            for kind, folder in tables.items():
                facts.where(f"{kind} is not null").select(f"{kind}.*").write.mode("overwrite").parquet(str(folder))
            summary = summarize_frame(facts, plan, with_keys=options.business_key is not None)
            facts.unpersist()
        except job_errors() as error:
            report_problem(failure_line(error))
            return 1
    try:
        write_json(summary_file, _plain(summary))
    except OSError as error:
        report_problem(f"The summary was not written: {error.strerror or error}")
        return 1
    for damage in summary.damages:
        report_problem(f"not read: {damage.file}, byte {damage.position}: {damage.kind}: {damage.what}")
    sys.stdout.write(
        f"{count_text(len(plan.directories), 'partition')} of {count_text(len(summary.topics), 'topic')}: "
        f"{options.out}\n"
    )
    return 1 if summary.damage_count else 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="spark_log_analytics.kafka_data", description="Read Kafka's files on Spark.")
    parser.add_argument("paths", nargs="+", help="data directories, under the same names on every executor")
    parser.add_argument("--out", required=True, help="directory of the result")
    parser.add_argument("--topic", action="append", default=[], help="read this topic only; repeatable")
    parser.add_argument("--business-key", help="key, header:NAME or value:FIELD: find duplicate records")
    return parser.parse_args(arguments)


def _plain(value: object) -> object:
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: _plain(part) for name, part in value._asdict().items()}
    return [_plain(part) for part in value] if isinstance(value, tuple) else value


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
