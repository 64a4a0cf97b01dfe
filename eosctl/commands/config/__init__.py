"""``eosctl config``."""

from eosctl.command_line.lazy import Entry

COMMANDS = (
    Entry("lint", "config.lint:lint"),
    Entry("explain", "explain:explain_setting"),
    Entry("diff", "config.show:diff"),
    Entry("render", "config.show:render"),
    Entry("upgrade", "config.change:upgrade"),
    Entry("fix", "config.change:fix"),
)
