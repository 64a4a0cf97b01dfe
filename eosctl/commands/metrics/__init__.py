"""``eosctl metrics``."""

from eosctl.commands.lazy import Entry

COMMANDS = (
    Entry(
        "show",
        "metrics.show:show_metrics",
        "Show the metrics of exactly-once in running programs: the worst value of each, and whether it is bad.",
    ),
    Entry(
        "watch",
        "metrics.watch:watch_metrics",
        "Watch the metrics of exactly-once: the worst value over all programs, its course, and whether it is bad.",
    ),
    Entry(
        "export",
        "metrics.export:export_metrics",
        "Write the configuration of a monitoring program: rules, exporter, dashboard, collector.",
    ),
    Entry("list", "metrics.metrics:list_all", "List the metrics that matter for exactly-once; all of them exist."),
    Entry(
        "explain",
        "metrics.metrics:explain",
        "Explain a metric: what it tells and which values are good; of a name "
        "that no release has, what to use instead.",
    ),
)
