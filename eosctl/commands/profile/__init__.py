"""``eosctl profile``."""

from eosctl.commands.lazy import Entry

COMMANDS = (
    Entry("list", "profile.profile:list_profiles", "List the profiles."),
    Entry("show", "profile.profile:show_profile", "Show one profile with its settings; secrets are masked."),
    Entry("add", "profile.profile:add", "Add a profile; use it with --profile NAME or EOSCTL_PROFILE."),
    Entry("remove", "profile.profile:remove", "Remove a profile."),
)
