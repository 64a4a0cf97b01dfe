"""Messages on a link between workers, in a stream that arrives in any pieces."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.sandbox.ports import Envelope
from eosctl.sandbox.workers.link_messages import (
    Attached,
    Carried,
    Detached,
    Hello,
    LinkMessage,
    MessageReader,
    encode_message,
)

NODES = st.integers(1, 2**31 - 1)
ENVELOPES = st.none() | st.builds(Envelope, st.text(), st.text(), st.text())
MESSAGES = st.one_of(
    st.builds(Hello, st.dictionaries(NODES, NODES)),
    st.builds(Attached, NODES, NODES),
    st.builds(Detached, NODES),
    st.builds(Carried, NODES, NODES, NODES, st.integers(0, 100), st.booleans(), st.binary(max_size=200), ENVELOPES),
)


@given(st.lists(MESSAGES), st.lists(st.integers(1, 50), min_size=1))
def test_messages_survive_any_cut_of_the_stream(messages: list[LinkMessage], sizes: list[int]) -> None:
    stream = b"".join(map(encode_message, messages))
    reader, read, position = MessageReader(), list[LinkMessage](), 0
    for number in range(len(stream)):
        size = sizes[number % len(sizes)]
        read += reader.feed(stream[position : position + size])
        position += size
    assert read == messages


def test_other_bytes_are_refused() -> None:
    with pytest.raises(msgspec.DecodeError):
        list(MessageReader().feed(b"\0\0\0\4GET "))
