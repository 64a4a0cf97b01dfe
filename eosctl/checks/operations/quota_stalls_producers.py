"""EOS-OPS-011."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.snapshot import ClientQuota
from eosctl.model.verdict import Evidence, Resource

PRODUCER_RATE: Final = "producer_byte_rate"
REQUEST_SHARE: Final = "request_percentage"
ENTITY_TYPES: Final = (("user", "users"), ("client-id", "clients"))
#: Producer defaults: transaction.timeout.ms and max.request.size.
TRANSACTION_TIMEOUT_S: Final = 60
FULL_REQUEST_BYTES: Final = 1_048_576


@check(
    "EOS-OPS-011",
    "Client quotas delay transactional producers",
    Area.OPERATIONS,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.CLIENT_QUOTAS}),
    uses=frozenset({EvidenceKind.TRANSACTIONS}),
    since=(2, 6),
    tags=("availability",),
    references=("KIP-13", "KIP-124", "KIP-219", "KIP-546"),
)
def quota_stalls_producers(case: Case) -> Iterator[Problem]:
    """Find quotas that hold producers back while their transactions are open.

    What it checks:
        Quotas of users and client ids for produced bytes and for request time, on clusters with transactional ids. A
        rate at which one full request (1 MiB, max.request.size) takes longer than the default transaction timeout
        (60 s) is a warning; any other such quota is information.

    Why it matters for exactly-once:
        A throttled producer waits with its transaction open. Consumers with read_committed wait with it, and the
        coordinator aborts the transaction at its timeout.

    Example:
        A quota for batch jobs was set as the default for all users; payments now time out at the end of the month.

    Fix:
        Give transactional applications a user or client id with a quota that fits their rate, or raise
        transaction.timeout.ms.

    Verify:
        The metric produce-throttle-time-avg of the producers is 0.
    """
    if not case.snapshot.transactions:
        return
    for quota in case.snapshot.client_quotas:
        values = dict(quota.values)
        if PRODUCER_RATE in values or REQUEST_SHARE in values:
            yield _problem(quota, values, case)


def _types(quota: ClientQuota) -> str:
    """Return the options that list this quota; kafka-configs.sh lists only quotas of exactly these types."""
    kinds = {kind for kind, _ in quota.entity}
    return " ".join(f"--entity-type {option}" for kind, option in ENTITY_TYPES if kind in kinds)


def _problem(quota: ClientQuota, values: dict[str, float], case: Case) -> Problem:
    rate, share = values.get(PRODUCER_RATE), values.get(REQUEST_SHARE)
    is_slow = rate is not None and rate * TRANSACTION_TIMEOUT_S < FULL_REQUEST_BYTES
    limits = [f"{rate:,.0f} bytes produced per second"] if rate is not None else []
    limits += [f"{share:g} % of request time"] if share is not None else []
    return Problem(
        resource=Resource("quota", str(quota)),
        message=f"The quota of {quota} allows {' and '.join(limits)} on each broker.",
        severity=Severity.WARNING if is_slow else Severity.INFO,
        impact="Its producers wait with open transactions when they exceed it; at the timeout these are aborted.",
        evidence=tuple(
            Evidence(key, f"{values[key]:g}", "DescribeClientQuotas")
            for key in (PRODUCER_RATE, REQUEST_SHARE)
            if key in values
        ),
        remedy=(
            "Compare it with the rate of the transactional applications that it covers; raise it where they exceed it.",
        ),
        commands=(Command(f"kafka-configs.sh --bootstrap-server {case.bootstrap} --describe {_types(quota)}"),),
        verify=(Command(f"eosctl check run EOS-OPS-011 -b {case.bootstrap}"),),
        facts=tuple((key, f"{values[key]:g}") for key in (PRODUCER_RATE, REQUEST_SHARE) if key in values),
    )
