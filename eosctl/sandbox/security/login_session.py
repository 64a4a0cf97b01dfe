"""The session that a login opens: when it ends, and when it may be renewed (KIP-368)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

#: A broker does not begin to renew a session more often (`KafkaChannel.MIN_REAUTH_INTERVAL_ONE_SECOND_NANOS`).
MIN_RENEWAL_INTERVAL_MS: Final = 1_000


@dataclass(frozen=True, slots=True)
class LoginSession:
    """A session.

    Attributes:
        mechanism: The SASL mechanism of its login, which a renewal keeps.
        ends_ms: After this time, in ms since the epoch, any request closes the connection; None: it never ends, and
            is not renewed.
        renewal_began_ms: When the last renewal began; None before the first.
    """

    mechanism: str
    ends_ms: int | None = None
    renewal_began_ms: int | None = None

    def may_renew(self, now_ms: int) -> bool:
        """Return whether a handshake renews it; otherwise it is a request as any other."""
        began_ms = self.renewal_began_ms
        return self.ends_ms is not None and (began_ms is None or now_ms - began_ms >= MIN_RENEWAL_INTERVAL_MS)

    def renewing(self, now_ms: int) -> LoginSession:
        """Return the session with a renewal that begins now."""
        return replace(self, renewal_began_ms=now_ms)

    def is_over(self, now_ms: int) -> bool:
        """Return whether it ended."""
        return self.ends_ms is not None and now_ms > self.ends_ms
