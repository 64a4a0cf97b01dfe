"""The same change as the commands that ship with Kafka, for those who may run only these."""

from __future__ import annotations

import shlex

from eosctl.model.plan import FencePlan, MarkerPlan


def abort_command(plan: MarkerPlan, bootstrap: str, command_config: str | None = None) -> str:
    """Return the ``kafka-transactions.sh`` line that does what the plan does (Kafka 3.0 and later)."""
    words = ["kafka-transactions.sh", "--bootstrap-server", bootstrap]
    if command_config is not None:
        words += ["--command-config", command_config]
    words += ["abort", "--topic", plan.partition.topic, "--partition", str(plan.partition.partition)]
    words += ["--start-offset", str(plan.first_offset)]
    return shlex.join(words)


def fence_command(plan: FencePlan, bootstrap: str, command_config: str | None = None) -> str:
    """Return the ``kafka-transactions.sh`` line that fences the id (Kafka 4.1 and later)."""
    words = ["kafka-transactions.sh", "--bootstrap-server", bootstrap]
    if command_config is not None:
        words += ["--command-config", command_config]
    words += ["forceTerminateTransaction", "--transactionalId", plan.transaction.transactional_id]
    return shlex.join(words)
