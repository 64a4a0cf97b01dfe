"""EOS-CFG-110."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-110",
    "Offset commits do not wait for all replicas",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.BROKER,),
    reads=("offsets.commit.required.acks",),
    references=("KIP-1030",),
)
def offset_commits_acknowledged_early(case: Case) -> Iterator[Problem]:
    """Find brokers that acknowledge committed offsets before they are replicated.

    What it checks:
        offsets.commit.required.acks other than -1, up to 3.9 (the setting was removed in 4.0).

    Why it matters for exactly-once:
        An offset that only the leader has is lost with it: records whose results are committed are processed again.

    Example:
        offsets.commit.required.acks=1 for faster commits.

    Fix:
        Remove the setting; -1 is the default.

    Verify:
        eosctl config lint reports it no longer.
    """
    for broker in case.deployment.of(Role.BROKER):
        acks = broker.value("offsets.commit.required.acks")
        if acks.is_given and acks.number is not None and acks.number != -1 and not _gone(broker):
            yield problem(
                broker,
                (acks,),
                f"offsets.commit.required.acks is {acks.number}.",
                impact="A committed offset can be lost with one broker.",
                remedy="Remove it.",
            )


def _gone(broker: Component) -> bool:
    return broker.release_named and broker.release >= (4, 0)
