"""Record what Prometheus would scrape of a Java client with a fault, on a sandbox; by hand, some minutes each::

    python -m tests.monitoring.recording.client AGENT.jar CLASSPATH NAME...

AGENT.jar is jmx_exporter's agent; CLASSPATH has Kafka Streams and what ``javac Orders.java`` made. The recordings in
``tests/fixtures/metrics`` were made so, tests replay them.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from eosctl.monitoring.exports import jmx_exporter_document
from eosctl.render.machine import render_yaml
from eosctl.testing import SandboxThread
from tests.free_port import free_port
from tests.monitoring.recording.broker import scrape
from tests.monitoring.series import SCRAPE_S, Series

VERSION = "4.3.1"
HEALTHY_SCRAPES = 6
LATE_MS = 5 * 60_000


class Order(NamedTuple):
    """A record to write: its key, its value, and how old it is."""

    key: str | None = "customer"
    value: str = "order"
    age_ms: int = 0


class ClientFault(NamedTuple):
    """A fault of a client.

    Attributes:
        minutes: How long to record.
        orders: What is written from then on in turn, ten a second, where Streams is the client.
        fault: What the sandbox does from then on, in the words of ``eosctl sandbox fault``.
        order_bytes: Of the producer's large orders; 0 where Streams is the client.
    """

    minutes: float
    orders: tuple[Order, ...] = (Order(),)
    fault: str = ""
    order_bytes: int = 0


CLIENT_FAULTS = {
    "slow-commits": ClientFault(8, fault="delay from=clients api=END_TXN ms=6000"),
    "poison": ClientFault(4, (*(Order() for _ in range(20)), Order(value="poison"))),
    "late-records": ClientFault(14, (Order(), Order(age_ms=LATE_MS))),
    "records-without-key": ClientFault(8, (Order(), Order(key=None))),
    "large-records": ClientFault(5, order_bytes=50_000),
}


def write(bootstrap: str, orders: Callable[[], tuple[Order, ...]], ended: threading.Event) -> None:
    producer = Producer({"bootstrap.servers": bootstrap})
    number = 0
    while not ended.wait(0.1):
        chosen = orders()
        one = chosen[number % len(chosen)]
        producer.produce("orders", one.value, one.key, timestamp=round(time.time() * 1000) - one.age_ms)
        producer.poll(0)
        number += 1
    producer.flush(60)


def record(name: str, agent: str, classes: str, fault: ClientFault, folder: Path) -> Series:
    configuration, port = folder / "exporter.yaml", free_port()
    configuration.write_text(render_yaml(jmx_exporter_document()), "utf-8")
    series, ended = Series(), threading.Event()
    with SandboxThread(brokers=1, fast=False) as sandbox:
        admin = AdminClient({"bootstrap.servers": sandbox.bootstrap})
        topics = [NewTopic("orders", 2, config={"max.message.bytes": "10000"}), NewTopic("counts", 2)]
        for created in admin.create_topics(topics).values():
            created.result(60)
        what = ["produce", str(fault.order_bytes)] if fault.order_bytes else ["streams", str(folder / "state")]
        command = ["java", "-Xmx256m", f"-javaagent:{agent}=127.0.0.1:{port}:{configuration}", "-cp", classes]
        with (folder / "client.log").open("wb") as log:
            client = subprocess.Popen([*command, "Orders", what[0], sandbox.bootstrap, what[1]], stdout=log, stderr=log)
            orders: list[tuple[Order, ...]] = [(Order(),)]
            writer = threading.Thread(target=write, args=(sandbox.bootstrap, lambda: orders[-1], ended))
            try:
                if not fault.order_bytes:
                    writer.start()
                for number in range(round(fault.minutes * 60 / SCRAPE_S) + HEALTHY_SCRAPES):
                    began = time.monotonic()
                    if number == HEALTHY_SCRAPES:
                        orders.append(fault.orders)
                        if fault.fault:
                            sandbox.fault(fault.fault)
                    series.add(scrape(port, name))
                    assert client.poll() is None, (folder / "client.log").read_text("utf-8")
                    time.sleep(max(0.0, SCRAPE_S - (time.monotonic() - began)))
            finally:
                ended.set()
                client.kill()
                client.wait()
        if writer.ident is not None:
            writer.join()
    return series


def main(agent: str, classes: str, *names: str) -> None:
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            series = record(name, agent, classes, CLIENT_FAULTS[name], Path(folder))
        print(series.save(f"{name}-{VERSION}", VERSION), series.count, len(series.values), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
