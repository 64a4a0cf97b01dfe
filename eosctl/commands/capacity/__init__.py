"""``eosctl capacity``."""

from eosctl.commands.lazy import Entry

COMMANDS = (
    Entry(
        "init",
        "capacity.init:init_workload",
        "Write a workload file; on a terminal it asks for what the options do not say.",
    ),
    Entry(
        "plan",
        "capacity.plan:plan_workload",
        "Plan a workload: what it costs, what it needs, where it breaks first.",
    ),
    Entry("compare", "capacity.plan:compare_workloads", "Put the plans of two workloads side by side."),
    Entry(
        "calibrate",
        "capacity.calibrate:calibrate",
        "Run small loads on a cluster and compare what its logs then hold with what the formulas predict.",
    ),
    Entry(
        "observe", "capacity.observe:observe", "Watch a cluster for an interval and write the workload that it runs."
    ),
    Entry(
        "simulate",
        "capacity.simulate:simulate",
        "Simulate commits on virtual time: their latency while brokers queue, and while one of them is lost.",
    ),
)
