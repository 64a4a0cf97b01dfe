"""Real Apache Kafka for the tests of this folder: one broker per release and worker, and Kafka's own tools."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Final

import pytest
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource

from eosctl.checks.operations.disk_nearly_full import disk_nearly_full
from eosctl.lab.apache.jars import resolve_jars
from eosctl.lab.apache.java import Runtime, ToolResult, prepare_runtime, run_tool
from eosctl.lab.apache.nodes import ApacheConfig, ApacheNodes
from eosctl.lab.apache.releases import resolve_release
from eosctl.lab.engine import MissingTool
from tests.apache.class_archives import archive_classes
from tests.apache.formats import format_as_before, note_format
from tests.apache.libraries import streams
from tests.apache.shared_brokers import SharedBrokers

# Those with which the protocol scenarios were recorded: few partitions, quick timers.
SETTINGS = {
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
    "offsets.topic.num.partitions": "5",
    "transaction.state.log.num.partitions": "5",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "200",
    "producer.id.expiration.check.interval.ms": "200",
}
VERIFICATION = "transaction.partition.verification.enable"
# A JVM reports the free space of the machine's disk, which may be nearly full on any test machine.
FULL_DISK = disk_nearly_full.id

KafkaTool = Callable[..., ToolResult]
VerificationOff = Callable[[ApacheNodes], AbstractContextManager[None]]


#: Per release, the fixture of a broker that the tests of several files share.
SHARED: Final = {"3.9.2": "apache_3_9", "4.3.1": "apache_4_3", "4.4.0": "apache_4_4"}
CLUSTER: Final = "apache_cluster"
#: These files take minutes: begun last, each would leave the other worker without work.
BEGUN_FIRST: Final = ("test_logs_on_spark_cluster.py", "test_logs_on_connect.py", "test_runbooks.py")
_NEEDS: Final = pytest.StashKey[dict[Path, frozenset[str]]]()
_BROKERS: Final = pytest.StashKey[SharedBrokers]()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark every test of this folder (``-m apache``), and put files that share brokers one after the other."""
    folder = f"{Path(__file__).parent}{os.sep}"
    needs: dict[Path, frozenset[str]] = {}
    for item in items:
        if str(item.path).startswith(folder):  # `path.parents` costs seconds over the 16,000 tests of every worker
            item.add_marker(pytest.mark.apache)
            needs[item.path] = needs.get(item.path, frozenset()) | needed_brokers(item)
    config.stash[_NEEDS] = needs
    items.sort(key=lambda item: _turn(item.path, needs.get(item.path)))


def needed_brokers(item: pytest.Item) -> frozenset[str]:
    """Return the names of the shared brokers that a test takes, by its fixtures or by its parameters."""
    fixtures = set(getattr(item, "fixturenames", ()))
    values = {str(value) for value in item.callspec.params.values()} if hasattr(item, "callspec") else set()
    named = (fixtures | values) & {*SHARED.values(), CLUSTER}
    by_release = values & SHARED.keys() if "apache" in fixtures else set()
    return frozenset(named | {SHARED[release] for release in by_release})


def _turn(path: Path, needs: frozenset[str] | None) -> tuple[int, list[str]]:
    """Return the sort key of a file: a broker runs only while one of the next files uses it."""
    if needs is None:
        return -2, []
    if not needs:
        return -1 if path.name in BEGUN_FIRST else 0, []
    return (1 if path.name in BEGUN_FIRST else 2), sorted(needs, reverse=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """After the last test of a file, stop shared brokers that the next file does not use.

    A broker without clients takes 3 % of a core, and 20 minutes of that are ten times as much as a start.
    """
    try:
        return (yield)
    finally:
        brokers = item.config.stash.get(_BROKERS, None)
        if brokers is not None and nextitem is not None and nextitem.path != item.path:
            brokers.keep(item.config.stash[_NEEDS].get(nextitem.path, frozenset()))


@contextmanager
def running(
    version: str, directory: Path, settings: Mapping[str, str] | None = None, **config: object
) -> Iterator[ApacheNodes]:
    """Run a cluster for the time of a test; without Java or Maven the test is skipped with the reason."""
    made = ApacheConfig(version, settings=SETTINGS | dict(settings or {}), **config)  # type: ignore[arg-type]
    engine = ApacheNodes(made, directory, random.Random())
    try:
        try:
            archive_classes(version, directory.with_name(f"{directory.name}-classes"))
            format_as_before(made, directory)
            asyncio.run(engine.up())
            note_format(made, directory)
        except MissingTool as missing:
            pytest.skip(f"{missing.tool} is missing: {missing.what}")
        yield engine
    finally:
        asyncio.run(engine.down())
        shutil.rmtree(
            directory, ignore_errors=True
        )  # segments preallocate; kept, they would fill the disk over a few runs


@pytest.fixture(scope="session")
def shared_brokers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedBrokers]:
    """Run the brokers that the tests of several files share; each test leaves them running."""
    with ExitStack() as stack:

        def run(name: str) -> ApacheNodes:
            folder = tmp_path_factory.mktemp(name.replace("_", "-"))
            if name == CLUSTER:
                return stack.enter_context(running("4.3.1", folder, node_count=3))
            (release,) = (release for release, fixture in SHARED.items() if fixture == name)
            return stack.enter_context(running(release, folder))

        request.config.stash[_BROKERS] = brokers = SharedBrokers(run)
        yield brokers


@pytest.fixture(scope="module")
def apache_3_9(shared_brokers: SharedBrokers) -> ApacheNodes:
    """Run one broker of Kafka 3.9.2 (transaction.version 0, its default)."""
    return shared_brokers.use("apache_3_9")


@pytest.fixture(scope="module")
def apache_4_3(shared_brokers: SharedBrokers) -> ApacheNodes:
    """Run one broker of Kafka 4.3.1 (transaction.version 2, its default)."""
    return shared_brokers.use("apache_4_3")


@pytest.fixture(scope="module")
def apache_4_4(shared_brokers: SharedBrokers) -> ApacheNodes:
    """Run one broker of Kafka 4.4.0 (transaction.version 2, its default)."""
    return shared_brokers.use("apache_4_4")


@pytest.fixture(scope="module")
def apache_cluster(shared_brokers: SharedBrokers) -> ApacheNodes:
    """Run three brokers of Kafka 4.3.1, for tests that stop some of them; each test leaves all running."""
    return shared_brokers.use(CLUSTER)


@pytest.fixture(scope="module", params=["3.9.2", "4.3.1"])
def apache(request: pytest.FixtureRequest, shared_brokers: SharedBrokers) -> ApacheNodes:
    """Yield a broker of each release in turn."""
    return shared_brokers.use(SHARED[request.param])


@pytest.fixture(scope="session")
def kafka_tool() -> KafkaTool:
    """Run one of Kafka's own tools: ``kafka_tool(main_class, *args, version="4.3.1")``; needs no broker."""
    prepared: dict[str, Runtime] = {}

    def run(main_class: str, *args: str, version: str = "4.3.1") -> ToolResult:
        if version not in prepared:
            try:
                prepared[version] = prepare_runtime(resolve_release(version))
            except MissingTool as missing:
                pytest.skip(f"{missing.tool} is missing: {missing.what}")
        return run_tool(prepared[version], main_class, *args)

    return run


@pytest.fixture(scope="session")
def apache_running() -> Callable[..., AbstractContextManager[ApacheNodes]]:
    """Run a separate cluster: `with apache_running(version, directory, **config) as engine`."""
    return running


@pytest.fixture(scope="session")
def partition_verification_off() -> VerificationOff:
    """Disable partition verification, as hanging transactions need (KIP-890).

    A broker reports the setting shortly before its logs apply it, so a late produce must be repeated while it gets
    INVALID_TXN_STATE.
    """

    @contextmanager
    def off(engine: ApacheNodes) -> Iterator[None]:
        set_on_every_broker(engine, VERIFICATION, "false")
        try:
            yield
        finally:
            set_on_every_broker(engine, VERIFICATION, "true")

    return off


def set_on_every_broker(engine: ApacheNodes, name: str, value: str) -> None:
    """Set a dynamic broker setting and return when every broker reports it (they follow the controller's answer)."""
    admin = AdminClient({"bootstrap.servers": engine.bootstrap})
    entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
    for broker in engine.brokers():
        changed = ConfigResource(ConfigResource.Type.BROKER, str(broker.broker_id), incremental_configs=[entry])
        admin.incremental_alter_configs([changed])[changed].result(20)
        asked = ConfigResource(ConfigResource.Type.BROKER, str(broker.broker_id))
        for _ in range(1000):
            if admin.describe_configs([asked])[asked].result(20)[name].value == value:
                break
        else:
            pytest.fail(f"broker {broker.broker_id} confirmed {name}={value} and never reported it")


@pytest.fixture(scope="session")
def streams_jars() -> Path:
    """Return the class path of Kafka Streams 4.3.1."""
    return fetch_streams("4.3.1")


def fetch_streams(version: str) -> Path:
    """Return the class path of Kafka Streams, fetched by Maven once and held to its committed checksums."""
    try:
        return resolve_jars(streams(version))
    except MissingTool as missing:
        pytest.skip(f"{missing.tool} is missing: {missing.what}")


@pytest.fixture(scope="session")
def kafka_jars() -> Path:
    """Return the class path of Kafka 4.3.1 with its own tools."""
    try:
        return resolve_jars(resolve_release("4.3.1"))
    except MissingTool as missing:
        pytest.skip(f"{missing.tool} is missing: {missing.what}")
