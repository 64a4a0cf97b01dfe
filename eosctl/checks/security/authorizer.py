"""Whether access rules mean anything on a cluster."""

from __future__ import annotations

from eosctl.checks.declaration import Case


def no_authorizer(case: Case) -> str:
    """Return why rules are not judged: nobody enforces them; nothing where somebody does."""
    rules = case.snapshot.access_rules
    return "no authorizer judges requests" if rules is not None and not rules.enabled else ""
