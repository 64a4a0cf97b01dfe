"""EOS-CFG-046."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.clients import transactional_producers
from eosctl.checks.configuration.problem import problem, use_of
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-046",
    "Two applications use the same transactional id",
    Area.CONFIGURATION,
    Severity.CRITICAL,
    roles=(Role.PRODUCER,),
    reads=("transactional.id",),
    references=("KIP-98",),
)
def shared_transactional_id(case: Case) -> Iterator[Problem]:
    """Find transactional ids, and prefixes of them, that two configurations share.

    What it checks:
        Equal transactional.id in two applications that are given together; equal prefixes of Spring or Flink
        applications. Ids with placeholders are not compared.

    Why it matters for exactly-once:
        The producer that initializes last fences the other one, which restarts and fences back: neither makes
        progress.

    Example:
        A deployment that was copied for a second region with its transactional.id.

    Fix:
        Give each application, and each instance of it, an id of its own.

    Verify:
        eosctl config lint reports it no longer.
    """
    owners: dict[str, Component] = {}
    for producer in transactional_producers(case.deployment):
        name = producer.value("transactional.id")
        if not name.is_given or not name.word:
            continue
        other = owners.setdefault(name.word, producer)
        if other.application != producer.application:
            theirs = other.value("transactional.id")
            yield problem(
                producer,
                (name, theirs),
                f"{name.key}={name.word} is {use_of(name, theirs)}.",
                impact="The application that starts last fences the other.",
                remedy="Give each application a transactional id of its own.",
            )
