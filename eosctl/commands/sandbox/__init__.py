"""``eosctl sandbox``."""

from eosctl.command_line.lazy import COMMAND_AT_THE_END, Entry

COMMANDS = (
    Entry("up", "sandbox.up:start"),
    Entry("serve", "sandbox.serve:serve"),
    Entry("down", "sandbox.running:stop"),
    Entry("status", "sandbox.running:show_sandboxes"),
    Entry("logs", "sandbox.running:show_logs"),
    Entry("simulate", "sandbox.simulate:simulate"),
    Entry("fault", "sandbox.faults:inject_fault"),
    Entry("heal", "sandbox.faults:heal"),
    Entry("advance", "sandbox.faults:advance"),
    Entry("scenario", "sandbox.scenarios:scenario"),
    Entry("proxy", "sandbox.proxy:proxy"),
    Entry("exec", "sandbox.running:execute", settings=COMMAND_AT_THE_END),
)
