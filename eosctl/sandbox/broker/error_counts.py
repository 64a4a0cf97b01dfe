"""Error codes of responses to clients and brokers by API, as in Kafka's metric ErrorsPerSec, successes included."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from eosctl.sandbox.replies import Reply

CODES = ("error_code", "partition_error_code")


class ErrorCounts:
    """The error codes of a broker's responses. Counting costs time, so it starts on request."""

    def __init__(self) -> None:
        self.by_api: Counter[tuple[int, int]] = Counter()

    def add(self, api_key: int, response: Any) -> None:
        """Count the codes of a response."""
        for code in error_codes(response):
            self.by_api[api_key, code] += 1

    def counted(self, api_key: int, reply: Reply, response: Any | None) -> None:
        """Count the codes of a response, and send it."""
        if response is not None:
            self.add(api_key, response)
        reply(response)


def error_codes(message: Any) -> Iterator[int]:
    """Yield the codes of a message's parts, and its own if it is an error or no part has a code."""
    own: int | None = None
    has_parts = False
    for name in message.__struct_fields__:
        value = getattr(message, name)
        if name in CODES:
            own = value
        else:
            for part in value if isinstance(value, list | tuple) else (value,):
                if hasattr(part, "__struct_fields__"):
                    for code in error_codes(part):
                        has_parts = True
                        yield code
    if own is not None and (own or not has_parts):
        yield own
