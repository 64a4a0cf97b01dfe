"""The severity of a finding."""

from __future__ import annotations

from enum import StrEnum


class Severity(StrEnum):
    """The severity of a finding, worst first."""

    CRITICAL = "critical"
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """Return 0 for critical up to 3 for info."""
        return list(Severity).index(self)

    def at_least(self, threshold: Severity) -> bool:
        """Return whether this severity is as bad as `threshold` or worse."""
        return self.rank <= threshold.rank
