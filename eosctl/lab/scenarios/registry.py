"""Every scenario by its name."""

from __future__ import annotations

from typing import Final

from eosctl.errors import UsageError
from eosctl.lab.scenarios.hanging import run_hanging
from eosctl.lab.scenarios.scenario import Scenario
from eosctl.lab.scenarios.zombie import run_zombie

SCENARIOS: Final = (
    Scenario(
        name="zombie",
        title="A second producer fences the first in the middle of its transaction",
        happens=(
            "Two producers use one transactional.id. While the first has written records and not yet committed, the "
            "second initialises: the coordinator raises the epoch and aborts the open transaction. The first wakes up, "
            "is refused, and the second commits work of its own."
        ),
        matters=(
            "This is how Kafka keeps zombies from doubling output. It is also what two instances with the same "
            "transactional.id by mistake do to each other again and again: work is aborted and retried, and nothing "
            "but the transaction log says who fenced whom."
        ),
        expected_findings=("EOS-TXN-004",),
        run=run_zombie,
    ),
    Scenario(
        name="hanging",
        title="Data that arrives after its transaction has ended pins a partition",
        happens=(
            "A producer commits while one of its batches is still on the way. The batch arrives behind the marker, and "
            "the leader takes it, because partition verification is off: a transaction opens that the coordinator does "
            "not know. Other producers commit behind it."
        ),
        matters=(
            "Nobody will end this transaction: the last stable offset stays before it, read_committed consumers stand "
            "still, and compaction stops, until an administrator writes an abort marker."
        ),
        expected_findings=("EOS-TXN-001", "EOS-BRK-002"),
        run=run_hanging,
    ),
)


def find_scenario(name: str) -> Scenario:
    """Return the scenario of a name.

    Raises:
        UsageError: There is none; the message lists all.
    """
    for scenario in SCENARIOS:
        if scenario.name == name:
            return scenario
    names = ", ".join(scenario.name for scenario in SCENARIOS)
    raise UsageError(f"There is no scenario {name}.", f"There are: {names}.", "Name one of these.")
