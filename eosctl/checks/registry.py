"""All checks, named one by one: what is not here does not run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eosctl.checks.broker.partition_verification_disabled import partition_verification_disabled
from eosctl.checks.declaration import Check
from eosctl.checks.transaction.hanging_transaction import hanging_transaction

ALL_CHECKS: Final[tuple[Check, ...]] = (
    hanging_transaction,
    partition_verification_disabled,
)


def find_check(check_id: str) -> Check | None:
    """Return the check with this id, in any case, or None."""
    return next((check for check in ALL_CHECKS if check.id == check_id.upper()), None)


def select_checks(selectors: Sequence[str]) -> tuple[Check, ...]:
    """Return the checks that any selector names: an id, an area (``TXN``) or a tag; all of them without selectors.

    Raises:
        LookupError: A selector names nothing; its argument is the selector.
    """
    if not selectors:
        return ALL_CHECKS
    for selector in selectors:
        if not any(_is_named(check, selector) for check in ALL_CHECKS):
            raise LookupError(selector)
    return tuple(check for check in ALL_CHECKS if any(_is_named(check, selector) for selector in selectors))


def _is_named(check: Check, selector: str) -> bool:
    return selector.upper() in (check.id, check.area.value) or selector.lower() in check.tags
