"""``eosctl dr``."""

from eosctl.command_line.lazy import Entry

COMMANDS = (Entry("lint", "dr.lint:lint"),)
