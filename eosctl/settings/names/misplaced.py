"""Settings of Kafka under beginnings that a framework does not pass on: they look right, and have no effect.

Sources: the extension of Quarkus for Kafka Streams (``KafkaStreamsRuntimeConfig``; what else Streams is to receive
stands under ``kafka-streams.``), SmallRye's Kafka connector, Micronaut's ``AbstractKafkaConfiguration``, the binder of
Spring Cloud Stream (``KafkaBinderConfigurationProperties``), and the schemas of Strimzi's resources.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Role, Value
from eosctl.model.parameter import relaxed
from eosctl.settings.formats.tree import Branch, Node, flatten
from eosctl.settings.names.unread import OF_STREAMS, STREAMS_BINDER, client_with, setting_at_end
from eosctl.settings.values.sources import value_of

_CLIENT: Final = re.compile(r"^(?:main\.consumer|restore\.consumer|global\.consumer|consumer|producer|admin)\.")
_PROFILE: Final = re.compile(r"^%[\w,-]+\.")
_CHANNEL: Final = re.compile(r"^(mp\.messaging\.(?:incoming|outgoing|connector)\.[\w-]+\.)(.+)$")
_MICRONAUT: Final = re.compile(r"^kafka\.(producers?|consumers?)\.(?:([\w-]+)\.)?(.+)$")
_BINDINGS: Final = re.compile(r"^spring\.cloud\.stream\.(kafka\.)?bindings\.([\w-]+)\.(?:(consumer|producer)\.)?(.+)$")
_BINDER: Final = re.compile(r"^spring\.cloud\.stream\.kafka\.binder\.(.+)$")
_PASSED_BY_BINDER: Final = re.compile(r"^(?:configuration|(?:consumer|producer)-?properties)[.\[]", re.IGNORECASE)
_QUARKUS: Final = ("quarkus.", "mp.messaging.")
_QUARKUS_STREAMS: Final = "quarkus.kafka-streams."
_STRIMZI: Final = "kafka.strimzi.io"


def misplaced(document: Node, file: str) -> tuple[Value, ...]:
    """Return the settings that no client receives, each with the name under which it would be received."""
    if not isinstance(document, Branch):
        return ()
    leaves = [(_PROFILE.sub("", key), leaf) for key, leaf in flatten(document)]
    found: list[Value] = []
    for reader in _readers(document, [key for key, _ in leaves]):
        for key, leaf in leaves:
            if (right := reader(key)) is not None:
                found.append(value_of(key, leaf, file, right))
    return tuple(found)


def _readers(document: Branch, keys: Sequence[str]) -> Iterator[Callable[[str], str | None]]:
    if any(key.startswith(_QUARKUS) for key in keys):
        yield _by_quarkus
    if any(key.startswith("micronaut.") for key in keys):
        yield _by_micronaut
    if any(key.startswith("spring.cloud.stream.") for key in keys):
        yield _by_binder
    if (document.text("apiVersion") or "").startswith(_STRIMZI):
        yield _by_strimzi(document.text("kind") or "")


def _by_quarkus(key: str) -> str | None:
    if (found := setting_at_end(key)) is None:
        return None
    if key.startswith((_QUARKUS_STREAMS, "kafka.streams.")):
        return f"kafka-streams.{found.client}{found.setting}"
    if key.startswith("kafka-streams."):
        rest = key.removeprefix("kafka-streams.")
        is_passed = found.is_spelled and _CLIENT.sub("", rest) == found.setting
        return None if is_passed else f"kafka-streams.{found.client}{found.setting}"
    if key.startswith("quarkus.kafka."):
        return f"kafka.{found.setting}"
    channel = _CHANNEL.match(key)
    if channel is None or channel[2] == found.setting:
        return None
    head = found.head.removeprefix(channel[1].rstrip(".")).strip(".")
    return f"{channel[1]}{found.setting}" if found._replace(head=head).is_generic else None


def _by_micronaut(key: str) -> str | None:
    found = setting_at_end(key)
    if found is None or not key.startswith(("kafka.", "micronaut.kafka.")):
        return None
    plural = f"{client_with(found.setting)}s"
    match = _MICRONAUT.match(key.removeprefix("micronaut."))
    if key.startswith("micronaut.") or (match is not None and not match[1].endswith("s")):
        name = match[2] if match is not None and match[2] and match[3] == found.setting else "default"
        return f"kafka.{plural}.{name}.{found.setting}" if found.setting not in OF_STREAMS else None
    if match is None:
        return None
    if f"{match[2]}.{match[3]}" == found.setting or match[2] is None:
        return f"kafka.{plural}.default.{found.setting}"
    is_apart = match[3] != found.setting and relaxed(match[3]) != relaxed(found.setting)
    head = match[3][: -len(found.setting)].strip(".")
    generic = found._replace(head=head).is_generic
    return f"kafka.{match[1]}.{match[2]}.{found.setting}" if is_apart and generic else None


def _by_binder(key: str) -> str | None:
    found = setting_at_end(key)
    if found is None or found.setting == "acks":
        return None
    if found.setting in OF_STREAMS and (_BINDER.match(key) or _BINDINGS.match(key)):
        return f"{STREAMS_BINDER}{found.setting}"
    if binder := _BINDER.match(key):
        is_passed = _PASSED_BY_BINDER.match(binder[1]) is not None or binder[1].lower().startswith("transaction.")
        properties = f"{client_with(found.setting)}-properties"
        return None if is_passed else f"spring.cloud.stream.kafka.binder.{properties}.{found.setting}"
    match = _BINDINGS.match(key)
    if match is None or (match[1] and match[3] and match[4].lower().startswith(("configuration.", "configuration["))):
        return None
    client = match[3] or client_with(found.setting)
    return f"spring.cloud.stream.kafka.bindings.{match[2]}.{client}.configuration.{found.setting}"


_CONFIG: Final = {
    "Kafka": (Role.BROKER, "spec.kafka.config."),
    "KafkaConnect": (Role.CONNECT_WORKER, "spec.config."),
    "KafkaConnector": (Role.SOURCE_CONNECTOR, "spec.config."),
    "KafkaTopic": (Role.TOPIC, "spec.config."),
}


def _by_strimzi(kind: str) -> Callable[[str], str | None]:
    role, place = _CONFIG.get(kind, (None, ""))
    names = load_tables()[role.value].parameters.keys() if role is not None else ()

    def right(key: str) -> str | None:
        if not key.startswith("spec.") or key.startswith(place):
            return None
        rest = key.removeprefix("spec.").removeprefix("kafka.").removeprefix("config.")
        return f"{place}{rest}" if rest in names and "." in rest else None

    return right
