"""EOS-CFG-018."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.clients import is_transactional, java_producers, minutes
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-018",
    "Transactional producer gives up before a coordinator has moved",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.PRODUCER,),
    reads=("max.block.ms",),
)
def max_block_too_short(case: Case) -> Iterator[Problem]:
    """Find transactional producers whose calls end before a coordinator can be replaced.

    What it checks:
        max.block.ms below its default of 60,000 ms in a transactional Java producer. It bounds initTransactions,
        sendOffsetsToTransaction, commitTransaction and abortTransaction.

    Why it matters for exactly-once:
        A rolling restart moves the coordinator, which first loads its partition. A call that ends earlier leaves
        the outcome unknown; the same call has to be repeated.

    Example:
        max.block.ms=5000, set so that send fails fast.

    Fix:
        Set max.block.ms to 60000 or more, and repeat the same call after a TimeoutException.

    Verify:
        eosctl config lint reports it no longer.
    """
    for producer in java_producers(case.deployment):
        block = producer.value("max.block.ms")
        if is_transactional(producer) and block.is_given and block.number is not None and block.number < 60_000:
            yield problem(
                producer,
                (block,),
                f"{block.key} is {minutes(block.number)}; moving a coordinator can take longer.",
                impact="commitTransaction and the others end in a TimeoutException during rolling restarts.",
                remedy=f"Set {block.key} to 60000 or more.",
            )
