"""A timeout bounds the whole command: what it did before the first request counts."""

from __future__ import annotations

import re
import time

import pytest

from eosctl.cli import main
from eosctl.lab.virtual_loop import run_virtual
from eosctl.services.callbacks import Callbacks
from eosctl.services.connect import resolve_connection
from eosctl.services.connection import Connection
from eosctl.services.read_cluster import time_limit


@pytest.mark.parametrize(("timeout_ms", "spent_ms", "left_ms"), [(2_000, 0, 2_000), (2_000, 1_500, 500)])
def test_what_was_spent_is_taken_off(timeout_ms: int, spent_ms: int, left_ms: int) -> None:
    async def left() -> float:
        limit = time_limit(Connection(timeout_ms=timeout_ms), Callbacks(spent_ms=lambda: spent_ms))
        assert limit is not None
        return limit.remaining_ms()

    assert run_virtual(left()) == pytest.approx(left_ms)


def test_one_request_leaves_half_of_the_rest_to_others() -> None:
    connection = Connection("127.0.0.1:1", timeout_ms=2_000)
    resolved = resolve_connection(connection, lambda _: None, {}, spent_ms=1_500)
    assert (resolved.config.request_timeout_ms, resolved.config.connect_timeout_ms) == (250, 250)


def test_without_a_timeout_nothing_is_limited() -> None:
    async def limit() -> object:
        return time_limit(Connection(), Callbacks(spent_ms=lambda: 10**9))

    assert run_virtual(limit()) is None


@pytest.mark.parametrize(
    "command",
    [
        "doctor",
        "check run TXN",
        "txn list",
        "txn hanging",
        "txn blame shop",
        "txn abort --topic orders --partition 0",
        "txn fence shop",
        "group lag",
        "group pending",
        "timeline --transactional-id shop",
        "exporter --once",
        "runbook run hanging-transaction",
        "snapshot capture nowhere.zip",
    ],
)
def test_a_late_start_is_reported(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    # Nothing listens there: without the limit, the refused connection would be reported.
    code = main([*command.split(), "-b", "127.0.0.1:1", "--timeout", "2s"], began_s=time.monotonic() - 3)
    error = capsys.readouterr().err
    assert code == 1
    assert "The time for the whole command was over before the first request." in error
    assert re.search(r"The timeout is 2 s; [0-9a-z ]+ have passed since the program began\.", error)
