"""``eosctl logs``."""

from eosctl.command_line.lazy import Entry

COMMANDS = (
    Entry("data", "logs.data:mine_data"),
    Entry("exceptions", "logs.exceptions:count_exceptions"),
    Entry("dashboard", "logs.sql:show_dashboard"),
    Entry("sql", "logs.sql:query_result"),
    Entry("submit", "logs.submit:submit_job"),
    Entry("submit-data", "logs.submit:submit_data_job"),
    Entry("warmup", "logs.warmup:warm_up"),
    Entry("watch", "logs.watch:watch_logs"),
    Entry("scan", "logs.scan:scan_logs"),
    Entry("report", "logs.scan:report_logs"),
    Entry("patterns", "logs.categories:list_patterns"),
    Entry("explain", "explain:explain_category"),
)
