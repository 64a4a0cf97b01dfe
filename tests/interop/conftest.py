"""Sandboxes of several shapes, shared by the tests of a run, and the clients that talk to them."""

from __future__ import annotations

import gc
import itertools
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from eosctl.testing import SandboxThread
from tests.interop.aiokafka_driver import Aiokafka, LoopThread
from tests.interop.confluent_driver import Confluent
from tests.interop.drivers import Driver
from tests.interop.kafka_python_driver import KafkaPython


class Shape(NamedTuple):
    """What a sandbox of these tests is like."""

    brokers: int
    emulate: str
    transaction_version: int

    def __str__(self) -> str:
        return f"{self.brokers}-brokers-{self.emulate}-tv{self.transaction_version}"


SHAPES = (Shape(1, "4.3", 2), Shape(3, "4.3", 2), Shape(3, "3.9", 0))
CLIENTS = ("confluent", "kafka-python", "aiokafka")

NewTopicName = Callable[..., str]


def sandbox(shape: Shape, *, fast: bool = False) -> SandboxThread:
    """Plan a cluster; a ``fast`` one fences a broker after 300 ms, which a busy machine can take for one scheduling."""
    return SandboxThread(
        brokers=shape.brokers,
        emulate=shape.emulate,
        transaction_version=shape.transaction_version,
        fast=fast,
    )


@pytest.fixture(scope="package", params=SHAPES, ids=str)
def cluster(request: pytest.FixtureRequest) -> Iterator[SandboxThread]:
    with sandbox(request.param) as running:
        yield running


@pytest.fixture(scope="package")
def drivers() -> Iterator[dict[str, Driver]]:
    loop = LoopThread()
    yield {"confluent": Confluent(), "kafka-python": KafkaPython(), "aiokafka": Aiokafka(loop)}
    loop.close()


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest, drivers: dict[str, Driver]) -> Driver:
    return drivers[request.param]


@pytest.fixture(autouse=True)
def sockets_that_kafka_python_leaves_open() -> Iterator[None]:
    """Collect them here without warnings: its selectors leave their wake-up sockets to the garbage collector."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the garbage collector run during these tests too."""
    folder = f"{Path(__file__).parent}{os.sep}"
    for item in items:
        if str(item.path).startswith(folder):
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"))


_numbers = itertools.count()


@pytest.fixture
def new_topic(cluster: SandboxThread) -> NewTopicName:
    """Create topics under names that no other test uses; they double as group and transactional ids."""

    def create(partitions: int = 1) -> str:
        name = f"clients-{next(_numbers)}"
        create_topic(cluster.bootstrap, name, partitions)
        return name

    return create


def create_topic(bootstrap: str, name: str, partitions: int) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(name, partitions)])[name].result(20)
