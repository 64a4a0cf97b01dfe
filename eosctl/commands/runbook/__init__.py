"""``eosctl runbook``."""

from eosctl.commands.lazy import Entry

COMMANDS = (
    Entry("list", "runbook.library:list_all", "List the runbooks that come with eosctl."),
    Entry(
        "show",
        "runbook.library:show",
        "Draw a runbook as a decision tree: as text, as a page of HTML, or as Mermaid.",
    ),
    Entry(
        "run",
        "runbook.run:run",
        "Run a runbook: without --yes it only looks and says what it would do first.",
    ),
    Entry(
        "journal",
        "runbook.library:show_journal",
        "Show the events of a run after checking that nobody changed its journal, or list the runs.",
    ),
    Entry(
        "lint",
        "runbook.lint:lint",
        "Find flaws of runbooks: unknown probes and facts, steps that lead nowhere, and unconfirmed changes.",
    ),
    Entry(
        "new",
        "runbook.library:new",
        "Write a small runbook that runs, with stories that test it, to start one's own from.",
    ),
    Entry(
        "test",
        "runbook.test:test_runbooks",
        "Run runbooks from faults that are really made, on sandboxes of their own, and tell which ways were not taken.",
    ),
)
