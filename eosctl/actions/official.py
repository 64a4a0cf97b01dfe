"""Equivalent commands of Kafka's own tools, for users who may run only these."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from eosctl.model.plan import FencePlan, MarkerPlan


def abort_command(plan: MarkerPlan, connection: Sequence[str]) -> str:
    """Return the `kafka-transactions.sh` command that is equivalent to a plan (Kafka 3.0 and later).

    Args:
        plan: The change.
        connection: The words after `--bootstrap-server`, see `analysis.bootstrap.connection_words`.
    """
    words = ["kafka-transactions.sh", "--bootstrap-server", *connection]
    words += ["abort", "--topic", plan.partition.topic, "--partition", str(plan.partition.partition)]
    words += ["--start-offset", str(plan.first_offset)]
    return shlex.join(words)


def fence_command(plan: FencePlan, connection: Sequence[str]) -> str:
    """Return the `kafka-transactions.sh` line that fences the id (Kafka 4.1 and later); see `abort_command`."""
    words = ["kafka-transactions.sh", "--bootstrap-server", *connection]
    words += ["forceTerminateTransaction", "--transactionalId", plan.transaction.transactional_id]
    return shlex.join(words)
