"""Addresses that a broker advertises are refused as unreachable when they are none."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eosctl.client.sockets import SocketConnector
from eosctl.model.client_config import Endpoint

ENDLESS = "a" * 20_000


class Unused:
    def data_received(self, data: bytes) -> None:
        raise AssertionError(data)

    def connection_lost(self, error: Exception | None) -> None:
        raise AssertionError(error)


@given(
    st.sampled_from((ENDLESS, "", ".", "a..b", "\0", "\x1b[31m", "127.0.0.1\0", "\ud800", "127.0.0.1")),
    st.sampled_from((-(2**31), -1, 65_536, 2**31 - 1)),
)
@example(ENDLESS, 9092)
@example("a\0b", 9092)
@example("\ud800", 9092)
def test_what_is_not_an_address_cannot_be_reached(host: str, port: int) -> None:
    with pytest.raises(OSError, match=r"malformed|[Nn]ame|address"):
        asyncio.run(SocketConnector().open(Endpoint(host, port), Unused(), None))
