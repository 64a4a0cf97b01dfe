"""What a shipper does: topics of a cluster, and lines in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from eosctl.client.access import librdkafka_settings, program_access
from eosctl.settings.clusters.client_resolution import resolve_client
from eosctl.testing import SandboxThread
from tests.logs.partitions import SHIPPERS, lines_of, shipped

PATIENCE_S = 60


def settings_of(cluster: SandboxThread, user: str | None = None) -> dict[str, str]:
    """Return librdkafka's settings of a user of a secured cluster."""
    config = resolve_client({}, command_config=cluster.client_properties(user)).config
    return librdkafka_settings(program_access(config))


def create(
    settings: Mapping[str, str], topic: str, partitions: int = 1, config: Mapping[str, str] | None = None
) -> None:
    """Make a topic; ``settings`` are librdkafka's, with ``bootstrap.servers`` among them."""
    admin = AdminClient({"log_level": 0, **settings})
    for made in admin.create_topics([NewTopic(topic, partitions, 1, config=dict(config or {}))]).values():
        made.result(PATIENCE_S)


def ship(
    settings: Mapping[str, str], topic: str, lines: Iterable[str], shipper: str = "Filebeat", partition: int = 0
) -> None:
    """Write lines into a partition as one of the shippers does."""
    producer = Producer({"log_level": 0, **settings})
    for record in shipped(lines, SHIPPERS[shipper]):
        producer.produce(topic, record.value, headers=list(record.headers), partition=partition)
    assert producer.flush(PATIENCE_S) == 0


@contextmanager
def shipped_by_all() -> Iterator[SandboxThread]:
    """A cluster with TLS and a login; each shipper has written the same file into a partition of the topic ``logs``."""
    with SandboxThread(sasl=("SCRAM-SHA-512",), tls=True) as running:
        settings = settings_of(running)
        create(settings, "logs", len(SHIPPERS))
        for partition, shipper in enumerate(SHIPPERS):
            ship(settings, "logs", lines_of(), shipper, partition)
        yield running
