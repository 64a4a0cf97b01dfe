"""``eosctl dr``."""

from eosctl.commands.lazy import Entry

COMMANDS = (
    Entry(
        "lint",
        "dr.lint:lint",
        "Tell what a mirror between two clusters carries over, what it does not, and what is set wrong.",
    ),
)
