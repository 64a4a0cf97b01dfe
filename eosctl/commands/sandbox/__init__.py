"""``eosctl sandbox``."""

from eosctl.commands.lazy import Entry

COMMANDS = (
    Entry("up", "sandbox.up:start", "Start a cluster in the background and return when it answers clients."),
    Entry(
        "down",
        "sandbox.down:stop",
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
        "Inject a fault into a sandbox. Without arguments, list active and past faults.",
    ),
    Entry("heal", "sandbox.faults:heal", "End every fault that lasts, and start every node that is down."),
    Entry(
        "advance",
        "sandbox.faults:advance",
        "Advance the clock of a sandbox: timeouts, retention and cleaning happen as if the time had passed.",
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
        "sandbox.execute:execute",
        "Run a program with the sandbox's address in its environment.",
        settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    ),
)
