"""`doctor` on healthy real clusters reports no false alarm, with default and hardened settings."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from eosctl.lab.apache.nodes import ApacheConfig, ApacheNodes
from eosctl.lab.engine import MissingTool
from tests.apache.conftest import FULL_DISK
from tests.commands.conftest import eosctl
from tests.settings.filled_profiles import filled

pytestmark = pytest.mark.usefixtures("own_home")
PATIENCE_S = 120
PAGE = Path(__file__).with_name("reviewed.yaml").read_text("utf-8")
REVIEWED = {one["cluster"]: one for one in yaml.safe_load(PAGE)}


@pytest.fixture(scope="module", params=list(REVIEWED))
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """One broker as it is, or three with the vetted production settings; all have seen transactions."""
    version, kind = request.param.split()
    settings = {} if kind == "default" else filled("broker-eos-production")
    config = ApacheConfig(version, node_count=REVIEWED[request.param]["brokers"], settings=settings)
    engine = ApacheNodes(config, tmp_path_factory.mktemp("truth"), random.Random())
    try:
        try:
            asyncio.run(engine.up())
        except MissingTool as missing:
            pytest.skip(f"{missing.tool} is missing: {missing.what}")
        consumer = work(engine.bootstrap)
        try:
            yield request.param, engine.bootstrap
        finally:
            consumer.close()
    finally:
        asyncio.run(engine.down())


def work(bootstrap: str) -> Consumer:
    """Commit transactions, one of them with offsets, and stay in the group; clients have the vetted settings."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for future in admin.create_topics([NewTopic("orders", 3, -1), NewTopic("totals", 3, -1)]).values():
        future.result(PATIENCE_S)
    transactional = filled("librdkafka-transactional", TRANSACTIONAL_ID="healthy-app")
    producer = Producer({"bootstrap.servers": bootstrap, **transactional})
    producer.init_transactions(PATIENCE_S)
    for _ in range(3):
        producer.begin_transaction()
        producer.produce("orders", b"order")
        producer.commit_transaction(PATIENCE_S)
    consumer = Consumer({"bootstrap.servers": bootstrap, **filled("consumer-read-committed", GROUP_ID="healthy-app")})
    consumer.subscribe(["orders"])
    assert len(consumer.consume(3, PATIENCE_S)) == 3
    producer.begin_transaction()
    producer.produce("totals", b"total")
    positions = consumer.position(consumer.assignment())
    producer.send_offsets_to_transaction(
        [one for one in positions if one.offset >= 0], consumer.consumer_group_metadata(), PATIENCE_S
    )
    producer.commit_transaction(PATIENCE_S)
    return consumer


def test_only_what_is_true_is_said(cluster: tuple[str, str], tmp_path: Path) -> None:
    reviewed, bootstrap = cluster
    rules = tmp_path / "rules.yaml"
    rules.write_text(f"suppressions: [{{id: {FULL_DISK}, reason: whatever the machine's disk holds}}]")
    done = eosctl("doctor", "-b", bootstrap, "-o", "json", "--require-complete", "--rules", str(rules))
    said = [(item["check_id"], item["severity"]) for item in done.json["items"]]
    assert sorted(said) == sorted((one["id"], one["severity"]) for one in REVIEWED[reviewed]["findings"])
    assert done.code == 0, done.json["evidence"]["gaps"]
    assert done.json["counts"]["skipped"] == 0
