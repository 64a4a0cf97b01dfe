"""``eosctl checklist``."""

from eosctl.commands.lazy import Entry

COMMANDS = (
    Entry("list", "checklist.list:list_all", "List the checklists that come with eosctl."),
    Entry("run", "checklist.checklist:run", "Go through a checklist: checks answer what they can, people the rest."),
    Entry(
        "sign",
        "checklist.checklist:sign",
        "Sign a record in which no item has failed or is open; several people may sign.",
    ),
)
