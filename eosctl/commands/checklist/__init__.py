"""``eosctl checklist``."""

from eosctl.command_line.lazy import Entry

COMMANDS = (
    Entry("list", "checklist.checklist:list_all"),
    Entry("run", "checklist.checklist:run"),
    Entry("sign", "checklist.checklist:sign"),
)
