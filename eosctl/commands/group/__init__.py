"""``eosctl group``."""

from eosctl.commands.lazy import Entry

OFFSETS = (
    Entry(
        "locate",
        "group.locate:locate_group",
        "Tell which partition of `__consumer_offsets` a group's offsets are in; no cluster is asked.",
    ),
)
COMMANDS = (
    Entry(
        "lag",
        "group.offsets:show_lag",
        "Show the lag of groups as a read_committed reader has it: readable, blocked by which transaction, overhead.",
    ),
    Entry(
        "pending",
        "group.offsets:show_pending",
        "Show offsets that open transactions hold (UNSTABLE_OFFSET_COMMIT), and which transaction holds each.",
    ),
    Entry("offsets", "group:OFFSETS", "Committed offsets."),
)
