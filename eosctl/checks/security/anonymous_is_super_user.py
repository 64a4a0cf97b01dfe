"""EOS-SEC-008."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.evidence import EvidenceKind
from eosctl.model.finding import Command, Evidence, Resource
from eosctl.model.severity import Severity


@check(
    "EOS-SEC-008",
    "Clients without a name are super users",
    Area.SECURITY,
    Severity.ERROR,
    needs=frozenset({EvidenceKind.BROKER_CONFIGS}),
    tags=("security",),
    references=(
        "KIP-11",
        "super.users",
    ),
)
def anonymous_is_super_user(case: Case) -> Iterator[Problem]:
    """Find brokers whose rules hold for nobody who stays anonymous.

    What it checks:
        User:ANONYMOUS among super.users.

    Why it matters for exactly-once:
        Whoever connects without authentication may do everything, the deletion of __transaction_state included.

    Example:
        super.users=User:ANONYMOUS, to let brokers talk to each other without TLS.

    Fix:
        Name the principals of brokers and administrators.

    Verify:
        eosctl check run EOS-SEC-008 passes.

    References:
        KIP-11; super.users.
    """
    for broker in case.snapshot.brokers:
        users = broker.setting("super.users")
        names = {name.strip() for name in (users.value or "").split(";")} if users is not None else set()
        if users is not None and "User:ANONYMOUS" in names:
            yield Problem(
                resource=Resource("broker", str(broker.node_id)),
                message="User:ANONYMOUS is a super user.",
                impact="Clients without authentication may do everything.",
                evidence=(Evidence("super.users", users.value or "", users.origin or f"broker {broker.node_id}"),),
                remedy=("Name the principals that need it.",),
                verify=(Command(f"eosctl check run EOS-SEC-008 -b {case.bootstrap}"),),
                facts=(("broker", broker.node_id),),
            )
