import asyncio

import pytest

from eosctl.client.deadline import Deadline
from eosctl.collect.allowed import READ_ONLY_APIS
from eosctl.collect.reader import ReadOnly, attempt, gap_from_code
from eosctl.errors import ClusterUnreachable, RequestTimedOut
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.evidence import EvidenceKind, GapReason
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode

WRITING = (
    "PRODUCE", "CREATE_TOPICS", "DELETE_TOPICS", "INIT_PRODUCER_ID", "END_TXN", "WRITE_TXN_MARKERS", "OFFSET_COMMIT",
    "TXN_OFFSET_COMMIT", "JOIN_GROUP", "LEAVE_GROUP", "FIND_COORDINATOR", "INCREMENTAL_ALTER_CONFIGS", "DELETE_RECORDS",
)  # fmt: skip


@pytest.mark.parametrize("name", WRITING)
def test_a_request_that_writes_is_never_sent(cluster, name):
    with pytest.raises(AssertionError, match="not a request that collecting may send"):
        asyncio.run(ReadOnly(cluster).request(1, ApiKey[name], object()))
    with pytest.raises(AssertionError):
        asyncio.run(ReadOnly(cluster).request_any(ApiKey[name], object()))
    assert cluster.asked == []
    assert ApiKey[name] not in READ_ONLY_APIS


def test_a_dead_broker_is_tried_once(cluster):
    cluster.down.add(1)

    async def ask_twice():
        reader = ReadOnly(cluster)
        for _ in range(2):
            with pytest.raises(ClusterUnreachable):
                await reader.request(1, ApiKey.LIST_GROUPS, object())

    asyncio.run(ask_twice())
    assert len(cluster.asked) == 1


@pytest.mark.parametrize("deadline_s", [None, 60])
def test_a_paused_broker_costs_one_timeout(deadline_s):
    asked = []

    class Paused:
        async def request(self, node_id, api_key, message, *, cap=None):
            asked.append(node_id)
            await asyncio.sleep(10)
            raise RequestTimedOut("it did not answer in time")

    async def ask_often():
        loop = asyncio.get_running_loop()
        deadline = None if deadline_s is None else Deadline.after(deadline_s * 1000)
        reader = ReadOnly(Paused(), deadline)
        answers = (reader.request(1, ApiKey.LIST_GROUPS, None) for _ in range(20))
        found = await asyncio.gather(*answers, return_exceptions=True)
        assert {type(one) for one in found} == {RequestTimedOut}
        return loop.time()

    assert run_virtual(ask_often()) == 10
    assert len(asked) == 2  # those that were in flight


def test_nothing_is_waited_for_beyond_the_deadline():
    class Slow:
        async def request(self, node_id, api_key, message, *, cap=None):
            await asyncio.sleep(3)
            return node_id

        async def request_any(self, api_key, message):
            await asyncio.sleep(3)

    async def ask():
        reader = ReadOnly(Slow(), Deadline.after(4_000))
        assert await reader.request(1, ApiKey.LIST_GROUPS, None) == 1
        with pytest.raises(RequestTimedOut, match="whole command") as late:
            await reader.request(2, ApiKey.LIST_GROUPS, None)
        assert "--timeout" in late.value.next_step
        with pytest.raises(RequestTimedOut):
            await reader.request_any(ApiKey.METADATA, None)
        return asyncio.get_running_loop().time()

    assert run_virtual(ask()) == 4


def test_at_most_two_requests_are_in_flight_to_a_broker():
    in_flight = 0
    most = 0

    class Slow:
        async def request(self, node_id, api_key, message, *, cap=None):
            nonlocal in_flight, most
            in_flight += 1
            most = max(most, in_flight)
            await asyncio.sleep(0)
            in_flight -= 1

    async def ask_many():
        reader = ReadOnly(Slow())
        await asyncio.gather(*(reader.request(1, ApiKey.LIST_GROUPS, None) for _ in range(20)))

    asyncio.run(ask_many())
    assert most == 2


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, GapReason.LOADING),
        (ErrorCode.TOPIC_AUTHORIZATION_FAILED, GapReason.NOT_AUTHORIZED),
        (ErrorCode.UNSUPPORTED_VERSION, GapReason.UNSUPPORTED),
        (ErrorCode.INVALID_REQUEST, GapReason.BROKER_ERROR),
    ],
)
def test_codes_become_gaps_with_their_reason(code, reason):
    gap = gap_from_code(EvidenceKind.PRODUCERS, "orders-0", int(code))
    assert (gap.reason, gap.error, gap.subject) == (reason, code.name, "orders-0")


def test_an_unknown_code_is_still_a_gap():
    assert gap_from_code(EvidenceKind.GROUPS, "g", 31_000).reason is GapReason.BROKER_ERROR


def test_a_failed_request_is_a_gap_and_no_exception(cluster):
    cluster.down.add(3)

    async def ask():
        return await attempt(
            EvidenceKind.GROUPS, "broker 3", lambda: ReadOnly(cluster).request(3, ApiKey.LIST_GROUPS, None)
        )

    answer, gaps = asyncio.run(ask())
    assert answer is None
    assert [(gap.kind, gap.subject, gap.reason) for gap in gaps] == [
        (EvidenceKind.GROUPS, "broker 3", GapReason.UNREACHABLE)
    ]
