"""``eosctl fencing``."""

from eosctl.commands.lazy import Entry

COMMANDS = (Entry("explain", "txn.blame:blame"),)
