"""``eosctl metrics``."""

from eosctl.command_line.lazy import Entry

COMMANDS = (
    Entry("show", "metrics.show:show_metrics"),
    Entry("watch", "metrics.watch:watch_metrics"),
    Entry("export", "metrics.export:export_metrics"),
    Entry("list", "metrics.metrics:list_all"),
    Entry("explain", "explain:explain_metric"),
)
