"""``eosctl fencing``."""

from eosctl.command_line.lazy import Entry

COMMANDS = (Entry("explain", "txn.blame:blame"),)
