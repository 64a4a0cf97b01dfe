"""EOS-CFG-129."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.clients import written_once
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-129",
    "Password is sent in the clear",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(
        Role.PRODUCER,
        Role.CONSUMER,
        Role.STREAMS,
        Role.CONNECT_WORKER,
    ),
    reads=(
        "security.protocol",
        "sasl.mechanism",
    ),
    tags=("security",),
    references=("KIP-43",),
)
def password_sent_in_clear(case: Case) -> Iterator[Problem]:
    """Find clients that send their password without encryption.

    What it checks:
        security.protocol=SASL_PLAINTEXT together with sasl.mechanism=PLAIN.

    Why it matters for exactly-once:
        An attacker who reads the network can act as the application: initialize its transactional id and fence it.

    Example:
        SASL_PLAINTEXT and PLAIN, carried over from a test.

    Fix:
        Use SASL_SSL, or at least SCRAM-SHA-512.

    Verify:
        eosctl config lint reports it no longer.
    """
    roles = (Role.PRODUCER, Role.CONSUMER, Role.STREAMS, Role.CONNECT_WORKER)
    for client, protocol in written_once(case.deployment, "security.protocol", *roles):
        mechanism = client.value("sasl.mechanism")
        if not mechanism.is_given:
            continue
        if (protocol.word or "").upper() == "SASL_PLAINTEXT" and (mechanism.word or "").upper() == "PLAIN":
            yield problem(
                client,
                (protocol, mechanism),
                "The password travels in the clear.",
                impact="An attacker who reads it can fence the application.",
                remedy="Use SASL_SSL.",
            )
