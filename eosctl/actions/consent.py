"""What the user said on the command line about carrying a change out."""

from __future__ import annotations

from typing import NamedTuple

from eosctl.errors import UsageError


class Consent(NamedTuple):
    """`ordered` means `--yes`; `confirmed` means that the target was given a second time with `--confirm`."""

    ordered: bool
    confirmed: bool

    @property
    def is_given(self) -> bool:
        """Return whether the command line alone is enough to act."""
        return self.ordered or self.confirmed


def require_confirmation(consent: Consent, target: str, protected_profile: str | None) -> None:
    """Refuse an order that a protected profile does not take.

    Args:
        consent: What the command line says.
        target: What `--confirm` must name.
        protected_profile: The name of the profile where it is protected; None if it is not.

    Raises:
        UsageError: The profile is protected, and the order came without a confirmation.
    """
    if protected_profile is not None and consent.ordered and not consent.confirmed:
        raise UsageError(
            f"Profile {protected_profile} is protected: --yes alone is not enough.",
            "It was marked so that nobody changes it by habit.",
            f"Add: --confirm {target}",
        )
