"""``eosctl check``."""

from eosctl.commands.lazy import Entry

COMMANDS = (
    Entry(
        "list",
        "check.check:list_checks",
        "List the checks: id, name, severity, what they find, what evidence they need.",
    ),
    Entry(
        "explain",
        "check.check:explain_check",
        "Show a check's manual: what it looks at, why it matters, how to fix and how to verify.",
    ),
    Entry("run", "check.check:run_checks", "Run selected checks; only the evidence that they need is collected."),
    Entry(
        "acl",
        "check.acl:acl",
        "Print the smallest set of access rules with which an application runs, and what fails without each.",
    ),
)
