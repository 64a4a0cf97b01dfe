"""Apache Camel's Kafka component: ``camel.component.kafka.*`` as Camel itself hands it to Kafka's clients.

Names and defaults are those of the component's catalog (``kafka.json`` in camel-kafka 4.23); what Camel always sets
is read from ``KafkaConfiguration.createProducerProperties`` there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from eosctl.model.deployment import Value
from eosctl.model.parameter import relaxed
from eosctl.settings.names.spellings import setting_meant

CAMEL: Final = re.compile(r"^camel\.component\.kafka\.(?:configuration\.)?(.+)$", re.IGNORECASE)
_MAP: Final = re.compile(r"^additional-?properties(?:\.|(?=\[))(.+)$", re.IGNORECASE)
# What Camel calls otherwise than Kafka does.
_NAMES: Final = {
    "brokers": "bootstrap.servers",
    "requestrequiredacks": "acks",
    "maxinflightrequest": "max.in.flight.requests.per.connection",
    "buffermemorysize": "buffer.memory",
    "producerbatchsize": "batch.size",
    "compressioncodec": "compression.type",
    "autocommitenable": "enable.auto.commit",
    "partitionassignor": "partition.assignment.strategy",
    "consumerrequesttimeoutms": "request.timeout.ms",
    "retries": "retries",
}
PRODUCER: Final[Mapping[str, str | None]] = {"enable.idempotence": "true", "acks": "all"}
"""Camel's own defaults."""
_TRANSACTED: Final = "transacted"
_ID: Final = "transactional.id"


def clients_settings(values: Mapping[str, Value]) -> dict[str, Value]:
    """Return the settings of Camel's Kafka component under Kafka's names; may be empty.

    ``additionalProperties`` goes before the component's own options. Camel makes up an id for ``transacted=true``.
    """
    found: dict[str, Value] = {}
    additional: dict[str, Value] = {}
    for key, value in values.items():
        match = CAMEL.match(key)
        if match is None:
            continue
        if inner := _MAP.match(match[1]):
            name = inner[1].strip("[]")
            additional[name] = replace(value, name=name)
        elif relaxed(match[1]) == _TRANSACTED and value.flag:
            found.setdefault(_ID, replace(value, name=_ID, text="(generated)"))
        elif name := _NAMES.get(relaxed(match[1])) or _own_name(match[1]):
            found[name] = replace(value, name=name)
    return {**found, **additional}


def _own_name(option: str) -> str | None:
    """Return Kafka's name for an option in camelCase or in kebab-case."""
    return setting_meant(option) or setting_meant(option.lower())
