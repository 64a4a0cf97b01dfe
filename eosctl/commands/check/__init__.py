"""``eosctl check``."""

from eosctl.command_line.lazy import Entry

COMMANDS = (
    Entry("list", "check.check:list_checks"),
    Entry("explain", "explain:explain_check"),
    Entry("run", "check.check:run_checks"),
    Entry("acl", "check.acl:acl"),
)
