"""``eosctl group``."""

from eosctl.command_line.lazy import Entry

OFFSETS = (Entry("locate", "locate:locate_group"),)
COMMANDS = (
    Entry("lag", "group.offsets:show_lag"),
    Entry("pending", "group.offsets:show_pending"),
    Entry("offsets", "group:OFFSETS", "Locate the committed offsets of a group."),
)
