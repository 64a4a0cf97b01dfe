"""EOS-CFG-134."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.clients import share_setting, transactional_producers_near
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-134",
    "Application with transactions starts at the end of its input",
    Area.CONFIGURATION,
    Severity.INFO,
    roles=(Role.CONSUMER,),
    reads=(
        "auto.offset.reset",
        "transactional.id",
    ),
    needs_presence_of=("transactional.id",),
    references=("KIP-98",),
)
def starts_at_end_of_input(case: Case) -> Iterator[Problem]:
    """Find consume-transform-produce applications that skip what they have no offset for.

    What it checks:
        auto.offset.reset=latest written down, in an application whose producer has a transactional id.

    Why it matters for exactly-once:
        When committed offsets expire, or a partition is added, everything up to now is skipped: processed zero times,
        without an error.

    Example:
        auto.offset.reset=latest, with applications that stand still longer than offsets.retention.minutes.

    Fix:
        Use earliest, or none and a decision by hand.

    Verify:
        eosctl config lint reports it no longer.
    """
    for consumer in case.deployment.of(Role.CONSUMER):
        reset = consumer.value("auto.offset.reset")
        writers = transactional_producers_near(case.deployment, consumer)
        if reset.is_given and (reset.word or "").lower() == "latest" and writers:
            if consumer.inside is Role.CONNECT_WORKER or share_setting(consumer) is not None:
                continue
            yield problem(
                consumer,
                (reset, writers[0].value("transactional.id")),
                f"{reset.key} is latest, and the application writes in transactions.",
                impact="Where no offset is committed, everything up to now is skipped.",
                remedy="Set earliest, or none.",
            )
