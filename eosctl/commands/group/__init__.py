"""``eosctl group``."""

from eosctl.command_line.lazy import Entry

OFFSETS = (Entry("locate", "locate:locate_group"),)
COMMANDS = (
    Entry("list", "group.described:show_groups"),
    Entry("describe", "group.described:show_group"),
    Entry("lag", "group.offsets:show_lag"),
    Entry("pending", "group.offsets:show_pending"),
    Entry("offsets", "group:OFFSETS", "Locate the committed offsets of a group."),
)
