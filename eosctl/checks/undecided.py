"""What keeps a check of configurations from a verdict: no component to judge, or a setting without a known value."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from eosctl.model.deployment import Deployment, Role, Value
from eosctl.model.placeholders import PLACEHOLDER
from eosctl.model.unjudged import Undecided

_WORDS: Final[Mapping[Role, str]] = {
    Role.BROKER: "broker",
    Role.TOPIC: "topic",
    Role.PRODUCER: "producer",
    Role.CONSUMER: "consumer",
    Role.STREAMS: "Streams",
    Role.CONNECT_WORKER: "Connect worker",
    Role.SOURCE_CONNECTOR: "source connector",
    Role.SINK_CONNECTOR: "sink connector",
    Role.MIRROR_MAKER: "MirrorMaker",
    Role.FLINK: "Flink",
    Role.SPRING: "Spring",
    Role.ACCESS_RULE: "access rule",
}


def undecided_settings(
    deployment: Deployment, reads: Collection[str], needs_presence_of: Collection[str] = ()
) -> tuple[Undecided, ...]:
    """Return the settings of these names whose values are not known, each place once.

    Of some it is enough to know that they are not empty: ``orders-${HOSTNAME}`` is an id in every environment.
    """
    numbers = sorted({number for read in reads for number in deployment.unresolved_by_name.get(read, ())})
    entries = (deployment.unresolved[number] for number in numbers)
    found = {
        (value.place, value.key): Undecided(component, value)
        for component, name, value in entries
        if name not in needs_presence_of or not is_never_empty(value)
    }
    return tuple(found.values())


def is_never_empty(value: Value) -> bool:
    """Return whether a value has a text of its own around its references.

    >>> is_never_empty(Value("transactional.id", "orders-${HOSTNAME}", "transactional.id", resolved=False))
    True
    >>> is_never_empty(Value("transactional.id", "${ID:}", "transactional.id", resolved=False))
    False
    """
    return re.search(r"\w", PLACEHOLDER.sub("", value.text or "")) is not None


def unknown_default(deployment: Deployment, roles: Collection[Role], reads: Collection[str]) -> str:
    """Return the first setting that decides and has a default that is not known, as a reason; empty when all are."""
    for component in deployment.with_unknown_defaults:
        if component.role not in roles:
            continue
        table = deployment.tables.get(component.role.value)
        own = {} if table is None else table.parameters
        name = next((read for read in reads if read in own and component.is_unknown(read)), None)
        if name is not None:
            software = "its image" if component.role is Role.BROKER else f"{component.client.value} client"
            return f"{component.place}: the default of {name} in {software} is not known"
    return ""


def without_components(deployment: Deployment, roles: Sequence[Role]) -> str:
    """Return why a check does not apply (no component of these roles), or an empty text.

    Args:
        deployment: The configurations that were given.
        roles: The roles in question; none: any component will do.
    """
    if deployment.of(*roles) if roles else deployment.components:
        return ""
    if tuple(roles) == (Role.ACCESS_RULE,):
        return "no access rules in the input"
    words = [_WORDS[role] for role in roles]
    named = f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else "".join(words)
    return f"no {named} configuration in the input" if named else "no configuration in the input"
