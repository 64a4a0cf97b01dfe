"""``eosctl snapshot``."""

from eosctl.commands.lazy import Entry

COMMANDS = (
    Entry(
        "capture",
        "snapshot.snapshot:capture_snapshot",
        "Capture a cluster's evidence in one file that can be sent to others.",
    ),
    Entry(
        "show",
        "snapshot.snapshot:show_snapshot",
        "Show what a bundle holds, what it lacks and why, and what was taken out.",
    ),
    Entry(
        "diff",
        "snapshot.snapshot:diff_two",
        "Tell what changed between two snapshots: brokers, leaders, settings, transactions, groups.",
    ),
)
