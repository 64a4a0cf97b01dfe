"""Missing evidence is reported and never a pass: old brokers, authorization errors, stopped brokers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from eosctl.testing import SandboxThread
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from tests.commands.conftest import Done, eosctl
from tests.commands.doctor.recording_proxy import RecordingProxy
from tests.commands.open_transactions import leave_open, on, unhurried

COMMANDS = (("txn", "list"), ("txn", "hanging"), ("txn", "producers"), ("group", "lag"), ("group", "pending"))
#: What brokers before 3.0, and before 2.8, do not serve.
BEFORE_3_0 = (ApiKey.LIST_TRANSACTIONS, ApiKey.DESCRIBE_TRANSACTIONS)
BEFORE_2_8 = (*BEFORE_3_0, ApiKey.DESCRIBE_PRODUCERS)


@pytest.fixture(scope="module")
def cluster() -> Iterator[SandboxThread]:
    with unhurried() as running:
        on(running.bootstrap, lambda client: leave_open(client, "shop-0"))
        yield running


def without(*keys: ApiKey) -> dict[ApiKey, Callable[[Any], Any]]:
    def announce(answer: Any) -> Any:
        return replace(answer, api_keys=[api for api in answer.api_keys if api.api_key not in keys])

    return {ApiKey.API_VERSIONS: announce}


def asked(proxy: RecordingProxy, *words: str) -> Done:
    return eosctl(*words, "-b", proxy.bootstrap)


def test_coordinators_before_3_0(cluster: SandboxThread) -> None:
    with RecordingProxy(cluster.bootstrap, without(*BEFORE_3_0)) as old:
        for command in COMMANDS:
            done = asked(old, *command)
            assert (done.code, "since Kafka 3.0" in done.out) == (0, True), command
            assert asked(old, *command, "--require-complete").code == 4
        assert asked(old, "txn", "hanging", "-o", "json").json["items"] == []
        (item,) = asked(old, "txn", "hanging", "--all", "-o", "json").json["items"]
        assert (item["status"], item["cause"]) == ("open", "in-flight")
        assert "The transaction log has shop-0" in item["explanation"], "the transaction log decides all the same"
        told = asked(old, "txn", "describe", "shop-0")
        assert (told.code, "cannot be described" in told.err, "since Kafka 3.0" in told.err) == (1, True, True)
        assert asked(old, "txn", "describe", "shop-0", "--require-complete").code == 4
        blamed = asked(old, "txn", "blame", "shop-0")
        assert (blamed.code, "Ongoing" in blamed.out) == (0, True)
        assert asked(old, "txn", "blame", "shop-0", "--require-complete").code == 4
        fenced = asked(old, "txn", "fence", "shop-0", "--yes")
        assert (fenced.code, "nothing was changed" in fenced.err) == (1, True)
        assert ApiKey.INIT_PRODUCER_ID not in old.apis


def test_leaders_before_2_8_do_not_prove_that_nothing_hangs(cluster: SandboxThread) -> None:
    with RecordingProxy(cluster.bootstrap, without(*BEFORE_2_8)) as old:
        done = asked(old, "txn", "hanging")
        assert "Nothing hangs" not in done.out
        first_line = done.out.splitlines()[0]
        assert first_line.startswith("INCOMPLETE: producers of ")
        assert first_line.endswith(" could not be read. Nothing was found in the rest.")
        assert "since Kafka 2.8" in done.out
        assert asked(old, "txn", "hanging", "--require-complete").code == 4


def test_a_refusal_is_named_with_its_error(cluster: SandboxThread) -> None:
    def refuse(answer: Any) -> Any:
        return replace(
            answer,
            topics=[
                replace(
                    topic,
                    partitions=[
                        replace(partition, error_code=int(ErrorCode.TOPIC_AUTHORIZATION_FAILED), active_producers=[])
                        for partition in topic.partitions
                    ],
                )
                for topic in answer.topics
            ],
        )

    with RecordingProxy(cluster.bootstrap, {ApiKey.DESCRIBE_PRODUCERS: refuse}) as guarded:
        done = asked(guarded, "txn", "hanging")
        assert (done.code, "TOPIC_AUTHORIZATION_FAILED" in done.out) == (0, True)
        assert "Nothing hangs" not in done.out
        assert asked(guarded, "txn", "hanging", "--require-complete").code == 4


def test_a_broker_that_is_down() -> None:
    unnoticed = {"broker.session.timeout.ms": "600000"}  # the controller still names it as a leader
    with SandboxThread(brokers=3, fast=False, config=unnoticed) as running:
        on(running.bootstrap, lambda client: leave_open(client, "shop-0"))
        running.kill_broker(3)
        for command in COMMANDS:
            done = eosctl(*command, "-b", running.bootstrap, "--timeout", "20s")
            strict = eosctl(*command, "-b", running.bootstrap, "--timeout", "20s", "--require-complete")
            assert (done.code, strict.code) == (0, 4), command
            assert "INCOMPLETE" in done.out, command
