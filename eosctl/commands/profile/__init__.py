"""``eosctl profile``."""

from eosctl.command_line.lazy import Entry

COMMANDS = (
    Entry("list", "profile.profile:list_profiles"),
    Entry("show", "profile.profile:show_profile"),
    Entry("add", "profile.profile:add"),
    Entry("remove", "profile.profile:remove"),
)
