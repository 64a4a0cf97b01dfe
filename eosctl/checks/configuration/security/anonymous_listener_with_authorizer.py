"""EOS-CFG-125."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

LOCAL: Final = ("localhost:", "127.", "[::1]")


@check(
    "EOS-CFG-125",
    "Listener without authentication on brokers with access rules",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.BROKER,),
    reads=(
        "listeners",
        "authorizer.class.name",
        "listener.security.protocol.map",
    ),
    tags=("security",),
    references=("KIP-103",),
)
def anonymous_listener_with_authorizer(case: Case) -> Iterator[Problem]:
    """Find brokers whose rules meet clients without a name.

    What it checks:
        With an authorizer: listeners whose protocol is PLAINTEXT, by their name or listener.security.protocol.map,
        other than those of controllers and those bound to the machine itself.

    Why it matters for exactly-once:
        Every client of that listener is User:ANONYMOUS. Rules for transactional ids cannot distinguish
        applications: any of them can fence any other.

    Example:
        listeners=PLAINTEXT://:9092,SASL_SSL://:9093 with StandardAuthorizer.

    Fix:
        Remove the listener, bind it to 127.0.0.1, or give it authentication.

    Verify:
        eosctl config lint reports it no longer.
    """
    for broker in case.deployment.of(Role.BROKER):
        listeners, authorizer = broker.value("listeners"), broker.value("authorizer.class.name")
        if not listeners.is_given or not listeners.word or not authorizer.word or not authorizer.is_given:
            continue
        protocols = dict(
            entry.strip().split(":", 1)
            for entry in (broker.word("listener.security.protocol.map") or "").split(",")
            if ":" in entry
        )
        controllers = {name.strip() for name in (broker.word("controller.listener.names") or "").split(",")}
        for listener in (text.strip() for text in listeners.word.split(",")):
            name, _, address = listener.partition("://")
            if name in controllers or address.startswith(LOCAL):
                continue
            if protocols.get(name, name).upper() == "PLAINTEXT":
                yield problem(
                    broker,
                    (listeners, authorizer),
                    f"{listener} takes clients without authentication.",
                    impact="They all are User:ANONYMOUS: access rules cannot protect a transactional id.",
                    remedy="Remove the listener, or give it authentication.",
                )
