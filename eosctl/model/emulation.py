"""The releases of Kafka that the sandbox behaves as, and the patch releases that it was compared with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

FULL_RELEASE: Final[Mapping[str, str]] = {"3.9": "3.9.2", "4.3": "4.3.1", "4.4": "4.4.0"}
"""By the name of `--emulate`, the oldest first."""
RELEASES: Final = tuple(FULL_RELEASE)
NEWEST: Final = RELEASES[-1]
CHOICES: Final = "|".join(RELEASES)
"""As help texts write them."""
