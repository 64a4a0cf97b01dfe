"""``eosctl verify``."""

from eosctl.commands.lazy import Entry

COMMANDS = (
    Entry(
        "run",
        "verify.verify:verify_run",
        "Run transactional applications on a cluster, disturb it, and check what they did and saw.",
    ),
    Entry(
        "app",
        "verify.application:verify_app",
        "Test an application of any kind: write numbered, checksummed inputs, and check what it makes of them.",
    ),
    Entry(
        "dlq",
        "verify.application:verify_dlq",
        "Test an application with a dead-letter topic: as verify app, with inputs among them that it cannot handle.",
    ),
    Entry(
        "canary",
        "verify.canary:verify_canary",
        "Write, read and check a few small transactions for ever; end with exit code 3 at the first anomaly.",
    ),
    Entry(
        "replay",
        "verify.runs:replay_run",
        "Play a run again: the same work and the same faults at the same times, on the same or another cluster.",
    ),
    Entry("show", "verify.runs:show_run", "Check the history of a run that is over again, and show its report."),
    Entry(
        "export",
        "verify.runs:export_run",
        "Write the history of a run for elle, Jepsen's checker: list-append in EDN, one operation a line.",
    ),
)
