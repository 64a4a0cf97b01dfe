"""``eosctl config``."""

from eosctl.commands.lazy import Entry

COMMANDS = (
    Entry(
        "lint",
        "config.lint:lint",
        "Judge configuration files by the rules of exactly-once, brokers and applications together.",
    ),
    Entry(
        "explain",
        "config.show:explain",
        "Show a setting: where it exists, its default by release, what it does to exactly-once, "
        "the rules that read it.",
    ),
    Entry(
        "diff",
        "config.show:diff",
        "Compare what two files mean: values with defaults resolved, each by its own release.",
    ),
    Entry(
        "render",
        "config.show:render",
        "Print a vetted configuration with the reason for each setting, or list what there is.",
    ),
    Entry(
        "upgrade",
        "config.change:upgrade",
        "Show what an upgrade changes for configurations: removed, renamed and refused settings, defaults, steps.",
    ),
    Entry(
        "fix", "config.change:fix", "Mend what leaves no choice, and show the patch first; comments and order are kept."
    ),
)
