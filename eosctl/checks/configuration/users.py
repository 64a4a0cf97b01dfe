"""The user that a client logs in as."""

from __future__ import annotations

import re
from typing import Final

from eosctl.model.deployment import Component

_USER: Final = re.compile(r"""\busername\s*=\s*["']?(?P<name>[^"';\s]+)""")
_ELSEWHERE: Final = ("$", "{")


def users_of(client: Component) -> frozenset[str]:
    """Return the user that the settings of a client name; empty where they name none, or one from elsewhere.

    Kafka's clients name it in ``sasl.jaas.config``, librdkafka's in ``sasl.username``.
    """
    match = _USER.search(client.value("sasl.jaas.config").text or "")
    name = match["name"] if match is not None else client.value("sasl.username").word
    return frozenset() if not name or name.startswith(_ELSEWHERE) else frozenset((name,))
