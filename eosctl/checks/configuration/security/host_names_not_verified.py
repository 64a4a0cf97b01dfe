"""EOS-CFG-128."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.clients import written_once
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-128",
    "Host names of TLS peers are not verified",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(
        Role.BROKER,
        Role.PRODUCER,
        Role.CONSUMER,
        Role.STREAMS,
        Role.CONNECT_WORKER,
    ),
    reads=("ssl.endpoint.identification.algorithm",),
    tags=("security",),
    references=("KIP-294",),
)
def host_names_not_verified(case: Case) -> Iterator[Problem]:
    """Find clients and brokers that accept any certificate of a trusted authority.

    What it checks:
        ssl.endpoint.identification.algorithm written down as empty, where security.protocol or a listener uses TLS or
        nothing says that it does not.

    Why it matters for exactly-once:
        An attacker with any certificate of the same authority can impersonate a broker and accept records that the
        producer then believes committed.

    Example:
        ssl.endpoint.identification.algorithm= because certificates lacked names.

    Fix:
        Give certificates subject alternative names and remove the setting.

    Verify:
        eosctl config lint reports it no longer.
    """
    roles = (Role.BROKER, Role.PRODUCER, Role.CONSUMER, Role.STREAMS, Role.CONNECT_WORKER)
    for component, algorithm in written_once(case.deployment, "ssl.endpoint.identification.algorithm", *roles):
        if algorithm.word == "" and (component.word("security.protocol") or "SSL").upper() in ("SSL", "SASL_SSL"):
            yield problem(
                component,
                (algorithm,),
                f"{algorithm.key} is empty: host names are not verified.",
                impact="Another machine can stand in for a broker.",
                remedy="Remove it, and give certificates the names of their hosts.",
            )
