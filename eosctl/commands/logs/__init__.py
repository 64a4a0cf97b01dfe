"""``eosctl logs``."""

from eosctl.commands.lazy import Entry

COMMANDS = (
    Entry(
        "data",
        "logs.data:mine_data",
        "Read Kafka's data files: durations of transactions, abort ratios, markers, sequence gaps, duplicate keys.",
    ),
    Entry(
        "exceptions",
        "logs.exceptions:count_exceptions",
        "Count stack traces by minute, class, root cause, application and host: the fast look at a lot of logs.",
    ),
    Entry(
        "submit",
        "logs.submit:submit_job",
        "Run the scan as a job on a Spark cluster: pack the code, submit, and tell what it found.",
    ),
    Entry(
        "submit-data",
        "logs.submit:submit_data_job",
        "Run ``logs data`` as a job on a Spark cluster: every transaction as Parquet, the sums as JSON.",
    ),
    Entry(
        "warmup",
        "logs.warmup:warm_up",
        "Keep Spark's classes in an archive (160 MB), from which "
        "the local Spark of --engine spark starts twice as fast.",
    ),
    Entry(
        "watch",
        "logs.watch:watch_logs",
        "Follow logs and show what matters while it is written; rotation and truncation are followed.",
    ),
    Entry(
        "scan",
        "logs.scan:scan_logs",
        "Read logs into events: category, time, ids, exceptions, with file and offset of each.",
    ),
    Entry(
        "report",
        "logs.scan:report_logs",
        "Tell what went wrong and why: incidents with their root causes, evidence and next steps.",
    ),
    Entry("patterns", "logs.categories:list_patterns", "List the categories that log records are sorted into."),
    Entry(
        "explain",
        "logs.categories:explain_category",
        "Show what a category means, how it is recognised and what to do next.",
    ),
)
