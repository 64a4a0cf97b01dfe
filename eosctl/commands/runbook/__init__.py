"""``eosctl runbook``."""

from eosctl.command_line.lazy import Entry

COMMANDS = (
    Entry("list", "runbook.library:list_all"),
    Entry("show", "runbook.library:show"),
    Entry("run", "runbook.run:run"),
    Entry("journal", "runbook.library:show_journal"),
    Entry("lint", "runbook.lint:lint"),
    Entry("new", "runbook.library:new"),
    Entry("test", "runbook.test:test_runbooks"),
)
