"""``eosctl snapshot``."""

from eosctl.command_line.lazy import Entry

COMMANDS = (
    Entry("capture", "snapshot.snapshot:capture_snapshot"),
    Entry("show", "snapshot.snapshot:show_snapshot"),
    Entry("diff", "snapshot.snapshot:diff_two"),
)
