"""A request whose connection ends each time that it is sent names the broker that ends it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

START = (
    "2026-02-24 07:12:40,251  INFO [main] o.a.k.c.p.i.TransactionManager : [Producer clientId=fee-1, "
    "transactionalId=fee-tx-1] Invoking InitProducerId for the first time in order to acquire a producer ID\n"
)
CLOSED = (
    "2026-02-24 07:12:{0},333  INFO [net] org.apache.kafka.clients.NetworkClient : [Producer clientId=fee-1, "
    "transactionalId=fee-tx-1] Cancelled in-flight {1} request with correlation id 4 due to node 3 being disconnected "
    "(elapsed time since creation: {2}ms, elapsed time since send: {2}ms, request timeout: 30000ms)\n"
)
FAILED = (
    "2026-02-24 07:13:40,290 ERROR [main] com.example.Fees : start failed\n"
    "org.apache.kafka.common.errors.TimeoutException: Timeout expired after 60000ms while awaiting InitProducerId\n"
)


def test_closes_at_the_request_are_the_begin_of_its_timeout(tmp_path: Path) -> None:
    closes = "".join(CLOSED.format(second, "INIT_PRODUCER_ID", 21) for second in (41, 52))
    (one,) = judge(tmp_path, {"fees.log": START + closes + FAILED})
    assert one.kind == "init_producer_id_timeout"
    assert "Node 3 closed the connection soon after" in one.explanation and "(2 times" in one.explanation
    assert one.t_end_ms - one.t_start_ms == 58_957


@pytest.mark.parametrize(
    "closes",
    [
        CLOSED.format(41, "INIT_PRODUCER_ID", 21),
        "".join(CLOSED.format(second, "METADATA", 21) for second in (41, 52)),
        "".join(CLOSED.format(second, "INIT_PRODUCER_ID", 30_000) for second in (41, 52)),
    ],
    ids=["once", "another-request", "after-a-timeout"],
)
def test_other_ends_of_connections_cause_nothing(closes: str, tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"fees.log": START + closes + FAILED})
    assert "closed the connection" not in one.explanation
