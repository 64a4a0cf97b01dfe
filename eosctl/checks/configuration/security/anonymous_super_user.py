"""EOS-CFG-127."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-127",
    "Clients without a name are super users",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.BROKER,),
    reads=("super.users",),
    tags=("security",),
    references=("KIP-11",),
)
def anonymous_super_user(case: Case) -> Iterator[Problem]:
    """Find brokers on which access rules do not apply to anonymous clients.

    What it checks:
        User:ANONYMOUS among super.users.

    Why it matters for exactly-once:
        A client without authentication may do everything, including the deletion of __transaction_state.

    Example:
        super.users=User:ANONYMOUS, to let brokers talk to each other without TLS.

    Fix:
        Name the principals of brokers and administrators.

    Verify:
        eosctl config lint reports it no longer.
    """
    for broker in case.deployment.of(Role.BROKER):
        users = broker.value("super.users")
        if users.is_given and "User:ANONYMOUS" in {user.strip() for user in (users.word or "").split(";")}:
            yield problem(
                broker,
                (users,),
                "User:ANONYMOUS is a super user.",
                impact="Clients without authentication may do everything.",
                remedy="Name the principals that need it.",
            )
