"""``eosctl fencing``."""

from eosctl.commands.lazy import Entry

COMMANDS = (
    Entry(
        "explain",
        "txn.blame:blame",
        "Tell who took a transactional id from whom, and why: from the transaction log, live or from files, and logs.",
    ),
)
