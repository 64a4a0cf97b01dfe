"""Whether access rules mean anything on a cluster."""

from __future__ import annotations

from eosctl.checks.declaration import Case


def no_authorizer(case: Case) -> str:
    """Return why rules are not judged (no authorizer enforces them), or an empty text."""
    rules = case.snapshot.access_rules
    return "no authorizer judges requests" if rules is not None and not rules.enabled else ""
