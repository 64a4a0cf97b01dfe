"""``eosctl sandbox``."""

from eosctl.commands.lazy import Entry

COMMANDS = (
    Entry(
        "up", "sandbox.sandbox:start_sandbox", "Start a cluster in the background and return when it answers clients."
    ),
    Entry(
        "down",
        "sandbox.sandbox:stop_sandbox",
        "Stop a sandbox: exactly the process that was started, however it stands.",
    ),
    Entry(
        "status",
        "sandbox.status:show_sandboxes",
        "List the sandboxes of this user, or show one of them (`--name`, `--watch`).",
    ),
    Entry("logs", "sandbox.logs:show_logs", "Show the logs of a sandbox's brokers and controllers, in order of time."),
    Entry(
        "simulate",
        "sandbox.simulate:simulate",
        "Play fault schedules on a simulated cluster and check what its clients saw.",
    ),
    Entry(
        "fault",
        "sandbox.faults:inject_fault",
        "Let something go wrong with a sandbox; without words, show what lasts and what has happened.",
    ),
    Entry("heal", "sandbox.faults:heal", "End every fault that lasts, and start every node that is down."),
    Entry(
        "advance",
        "sandbox.faults:advance",
        "Let a sandbox's time pass at once: timeouts, retention and cleaning happen as if it had been waited for.",
    ),
    Entry(
        "scenario",
        "sandbox.scenarios:scenario",
        "List, show and run scenarios: what goes wrong, why it matters, and what must be found.",
    ),
    Entry(
        "proxy",
        "sandbox.proxy:proxy",
        "Stand between clients and a cluster on this machine, and let their connections go wrong.",
    ),
    Entry(
        "exec",
        "sandbox.sandbox:execute",
        "Run a program with the sandbox's address in its environment.",
        settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    ),
)
