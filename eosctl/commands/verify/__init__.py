"""``eosctl verify``."""

from eosctl.command_line.lazy import Entry

COMMANDS = (
    Entry("run", "verify.verify:verify_run"),
    Entry("app", "verify.application:verify_app"),
    Entry("dlq", "verify.application:verify_dlq"),
    Entry("canary", "verify.canary:verify_canary"),
    Entry("replay", "verify.runs:replay_run"),
    Entry("show", "verify.runs:show_run"),
    Entry("export", "verify.runs:export_run"),
)
