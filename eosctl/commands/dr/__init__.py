"""``eosctl dr``."""

from eosctl.commands.lazy import Entry

COMMANDS = (Entry("lint", "dr.lint:lint"),)
