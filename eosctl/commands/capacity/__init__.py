"""``eosctl capacity``."""

from eosctl.command_line.lazy import Entry

COMMANDS = (
    Entry("init", "capacity.init:init_workload"),
    Entry("plan", "capacity.plan:plan_workload"),
    Entry("compare", "capacity.plan:compare_workloads"),
    Entry("calibrate", "capacity.calibrate:calibrate"),
    Entry("observe", "capacity.observe:observe"),
    Entry("simulate", "capacity.simulate:simulate"),
)
