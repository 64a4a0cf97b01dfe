"""Releases, homes, coordinators, log questions, and the wording of numbers."""

from __future__ import annotations

import doctest
import json
from importlib import resources

import pytest
import yaml
from msgspec.structs import replace

from eosctl import text
from eosctl.analysis.coordinators import may_hide_transactional_ids, missing_coordinators
from eosctl.analysis.locate import locate_group, locate_transactional_id
from eosctl.analysis.release import at_least, oldest_release, release_floor
from eosctl.analysis.state_log import Outcome, last_outcome
from eosctl.findings.bootstrap import bootstrap_of
from eosctl.model.evidence import EvidenceKind
from eosctl.model.snapshot import ApiRange
from tests.analysis.recorded import FIXTURES
from tests.analysis.scenes import AUTHORIZER, ORDERS_0, broker, entry, gap, snapshot, state_topic

PROTOCOL = json.loads((resources.files("eosctl.knowledge") / "protocol.json").read_text("utf-8"))


def test_wording_examples() -> None:
    assert doctest.testmod(text).failed == 0


@pytest.mark.parametrize(("target", "release"), [("3.9-tv0", (3, 9)), ("4.3-tv1", (4, 3)), ("4.3-tv2", (4, 3))])
def test_release_of_real_brokers_is_a_lower_bound(target: str, release: tuple[int, int]) -> None:
    answer = yaml.safe_load((FIXTURES / "analysis" / "api-versions" / f"{target}.yaml").read_text())
    ranges = tuple(ApiRange(api["key"], api["min"], api["max"]) for api in answer["apis"])
    assert release_floor(broker(api_ranges=ranges)) == release


#: What these releases serve differs in nothing that a broker announces.
SERVED_BEFORE = {(2, 7): (2, 5), (3, 4): (3, 3)}


@pytest.mark.parametrize("text", PROTOCOL["releases"])
def test_releases_are_distinguished_by_what_they_serve(text: str) -> None:
    ranges = tuple(
        ApiRange(api["key"], *map(int, api["versions"][text].split("-")))
        for api in PROTOCOL["apis"].values()
        if "broker" in api["listeners"] and api["versions"].get(text)
    )
    major, minor = text.split(".")
    release = (int(major), int(minor))
    assert release_floor(broker(api_ranges=ranges)) == SERVED_BEFORE.get(release, release)


def test_release_of_an_unknown_broker() -> None:
    assert release_floor(broker(api_ranges=())) is None
    assert release_floor(broker(api_ranges=(ApiRange(0, 0, 3),))) == (0, 11)
    assert at_least(snapshot(brokers=(broker(), broker(2, api_ranges=()))), (4, 0))
    assert not at_least(snapshot(), (4, 0))
    assert at_least(snapshot(), (3, 9))
    assert oldest_release(snapshot(brokers=(broker(), broker(2, api_ranges=(ApiRange(0, 0, 3),))))) == (0, 11)
    assert oldest_release(snapshot(brokers=(broker(api_ranges=()),))) is None


def test_ids_and_groups_live_where_java_hashes_them() -> None:
    cluster = snapshot(topics=(state_topic([1] * 50),))
    home = locate_transactional_id(cluster, "payment-service")
    assert home is not None
    # Java: Math.abs("payment-service".hashCode()) % 50
    assert home.partition.partition == 32
    assert locate_group(cluster, "any") is None


def test_unheard_coordinators_are_named() -> None:
    lost = gap(EvidenceKind.TRANSACTIONS, "broker 2", "COORDINATOR_LOAD_IN_PROGRESS")
    cluster = snapshot(topics=(state_topic([1, 2, None]),), gaps=(lost,))
    assert missing_coordinators(cluster) == (
        "broker 2: COORDINATOR_LOAD_IN_PROGRESS",
        "__transaction_state-2 has no leader",
    )
    assert missing_coordinators(snapshot(gaps=(gap(EvidenceKind.TRANSACTIONS, "*"),))) != ()
    assert missing_coordinators(snapshot(gaps=(gap(EvidenceKind.TRANSACTIONS, "some-id"),))) == ()
    assert missing_coordinators(snapshot()) == ()


def test_authorizers_may_hide_ids() -> None:
    assert not may_hide_transactional_ids(snapshot())
    assert may_hide_transactional_ids(snapshot(brokers=(broker(), broker(2, settings=(AUTHORIZER,)))))
    assert may_hide_transactional_ids(snapshot(brokers=()))


@pytest.mark.parametrize(
    ("records", "outcome"),
    [
        ((), Outcome.UNKNOWN),
        ((entry("Empty", 0),), Outcome.NEVER),
        ((entry("Empty", 0, epoch=4),), Outcome.UNKNOWN),
        ((entry("PrepareCommit", 1), entry("CompleteCommit", 2)), Outcome.COMMITTED),
        ((entry("PrepareAbort", 1), entry("CompleteAbort", 2)), Outcome.ABORTED),
        ((entry("PrepareCommit", 1), entry("CompleteCommit", 2), entry("PrepareAbort", 3)), Outcome.ABORTED),
        ((entry("CompleteCommit", 2),), Outcome.COMMITTED),
        ((entry("CompleteAbort", 2),), Outcome.ABORTED),
        ((entry("Empty", 0), entry("PrepareCommit", 1, partitions=()), entry("CompleteCommit", 2)), Outcome.NEVER),
        ((entry("PrepareCommit", 1, producer_id=99), entry("CompleteCommit", 2, producer_id=99)), Outcome.UNKNOWN),
    ],
)
def test_how_the_last_transaction_on_a_partition_ended(records: tuple[object, ...], outcome: Outcome) -> None:
    assert last_outcome(records, 7, ORDERS_0) is outcome  # type: ignore[arg-type]


def test_bootstrap_is_a_broker_that_answered() -> None:
    assert bootstrap_of(snapshot(brokers=(broker(1, reachable=False), broker(2)))) == "127.0.0.1:9093"
    assert bootstrap_of(snapshot(brokers=())) == "HOST:PORT"
    secured = replace(snapshot(brokers=(broker(2),)), command_config="my client.properties")
    assert bootstrap_of(secured) == "127.0.0.1:9093 --command-config 'my client.properties'"
