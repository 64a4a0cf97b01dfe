"""Variables of containers that the image does not take for settings: it expects another beginning.

Bitnami's image reads ``KAFKA_CFG_``, those of Apache and Confluent ``KAFKA_``, and images of Connect ``CONNECT_``
(``/etc/confluent/docker/configure``, ``docker.KafkaDockerWrapper``, and Bitnami's ``libkafka.sh``). ksqlDB's drops
``KSQL_``, and the server reads settings of Streams behind ``ksql.streams.`` (``KsqlConfigResolver``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Role, Value
from eosctl.settings.formats.tree import Leaf
from eosctl.settings.names.setting_names import setting_of
from eosctl.settings.values.sources import value_of

_BITNAMI: Final = "KAFKA_CFG_"
_KAFKA: Final = "KAFKA_"
_CONNECT: Final = "CONNECT_"
_KSQL: Final = "KSQL_KSQL_STREAMS_"
_HALF_OF_KSQL: Final = "KSQL_STREAMS_"
_IMAGES_OF_KSQL: Final = ("ksqldb-server", "cp-ksql-server")
_IMAGES_OF_KAFKA: Final = ("apache/kafka", "cp-kafka", "cp-server", "cp-enterprise-kafka")
_IMAGES_OF_CONNECT: Final = ("cp-kafka-connect", "cp-server-connect", "debezium/connect")
_OWN_OF_IMAGES: Final = ("inter.broker.", "sasl.", "ssl.", "zookeeper.", "listener", "security.", "controller.")
"""How settings begin that images have variables of their own for."""
_OWN_OF_WORKERS: Final = ("config.storage.topic", "offset.storage.topic", "status.storage.topic")
"""What Debezium's image takes without a beginning."""
_FEWEST_DOTS: Final = 2
"""Names of fewer words may be anything: ``NODE_ID``."""


def split_unread(
    pairs: Iterable[tuple[str, Leaf]], image: str, file: str
) -> tuple[list[tuple[str, Leaf]], tuple[Value, ...]]:
    """Return the variables without those that the image does not read, and these with the names that it reads.

    Args:
        pairs: The variables of a container.
        image: Its image; empty where it is not known.
        file: The file's name.
    """
    given = list(pairs)
    prefix, role = _convention(image, {key for key, _ in given})
    if role is None:
        return given, ()
    names = load_tables()[role.value].parameters.keys()
    left: list[tuple[str, Leaf, str]] = []
    for key, leaf in given:
        rest = _without_wrong_prefix(key, prefix)
        setting = setting_of(rest) if rest else ""
        is_plain = setting in names and (setting.count(".") >= _FEWEST_DOTS or prefix == _KSQL)
        if is_plain and not setting.startswith(_OWN_OF_IMAGES) and setting not in _OWN_OF_WORKERS:
            left.append((key, leaf, f"{prefix}{rest}"))
    gone = {key for key, _, _ in left}
    unread = tuple(value_of(key, leaf, file, right) for key, leaf, right in left)
    return [pair for pair in given if pair[0] not in gone], unread


def _convention(image: str, names: set[str]) -> tuple[str, Role | None]:
    """Return what the image's variables for settings begin with, and whose they are."""
    base = image.partition("@")[0].rpartition(":")[0] or image
    if base.endswith(_IMAGES_OF_CONNECT):
        return _CONNECT, Role.CONNECT_WORKER
    if base.endswith(_IMAGES_OF_KSQL) or (not image and any(name.startswith("KSQL_KSQL_") for name in names)):
        return _KSQL, Role.STREAMS
    has_bitnamis = any(name.startswith(_BITNAMI) for name in names)
    if "bitnami" in base or (not image and has_bitnamis):
        return (_BITNAMI, Role.BROKER) if "kafka" in base or has_bitnamis else ("", None)
    return (_KAFKA, Role.BROKER) if base.endswith(_IMAGES_OF_KAFKA) else ("", None)


def _without_wrong_prefix(key: str, prefix: str) -> str:
    """Return a variable without the beginning of another image; empty where it begins as it should."""
    if prefix == _KSQL:
        return key.removeprefix(_HALF_OF_KSQL) if key.startswith(_HALF_OF_KSQL) else ""
    if prefix == _KAFKA:
        return key.removeprefix(_BITNAMI) if key.startswith(_BITNAMI) else "" if key.startswith(_KAFKA) else key
    if key.startswith(prefix):
        return ""
    return key.removeprefix("KAFKA_CONNECT_").removeprefix(_KAFKA) if prefix == _CONNECT else key.removeprefix(_KAFKA)
