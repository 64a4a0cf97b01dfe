"""The user's consent to a change on the command line."""

from __future__ import annotations

from typing import NamedTuple

from eosctl.errors import UsageError


class Consent(NamedTuple):
    """`ordered` is `--yes`; `confirmed` is a repeated target with `--confirm`."""

    ordered: bool
    confirmed: bool

    @property
    def is_given(self) -> bool:
        """Return whether the command line alone is sufficient to act."""
        return self.ordered or self.confirmed


def require_confirmation(consent: Consent, target: str, protected_profile: str | None) -> None:
    """Reject an unconfirmed change under a protected profile.

    Args:
        consent: The consent on the command line.
        target: The required value of `--confirm`.
        protected_profile: The profile's name if it is protected, else None.

    Raises:
        UsageError: The profile is protected, and the change is not confirmed.
    """
    if protected_profile is not None and consent.ordered and not consent.confirmed:
        raise UsageError(
            f"Profile {protected_profile} is protected: --yes alone is not enough.",
            "It is protected against accidental changes.",
            f"Add: --confirm {target}",
        )
