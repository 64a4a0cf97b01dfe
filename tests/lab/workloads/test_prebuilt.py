"""Patched frames are what the codec would have written, and errors are found where the codec puts them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.lab.workloads.load import Call, Profile
from eosctl.lab.workloads.prebuilt import RequestContent, answer_layout, prebuild, unpack_identity
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.frames import decode_request, encode_response
from eosctl.wire.messages.end_txn import EndTxnResponse
from eosctl.wire.records.batch import check_crc, decode_header, decode_records

CALLS = sorted({call for profile in Profile for call in profile.calls})
CONTENT = RequestContent("load-7", "group-7", "bench", (4, 5, 9), bytes(100), 1_700_000_000_000)

producer_ids = st.integers(0, 2**63 - 1)
epochs = st.integers(0, 2**15 - 1)
sequences = st.integers(0, 2**31 - 1)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call.api_key.name}-{call.version}")
@given(producer_ids, epochs, sequences)
def test_a_patched_frame_decodes_to_what_was_patched_in(
    call: Call, producer_id: int, producer_epoch: int, sequence: int
) -> None:
    request = prebuild(call, CONTENT)
    request.update(1, 1, 1)
    request.update(producer_id, producer_epoch, sequence)
    header, message = decode_request(bytes(request.frame[4:]))
    assert (header.api_key, header.api_version) == call
    if call.api_key is ApiKey.PRODUCE:
        assert message.transactional_id == "load-7"
        for index, data in zip(CONTENT.partitions, message.topic_data[0].partition_data, strict=True):
            batch = decode_header(data.records)
            assert data.index == index
            assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == (
                producer_id,
                producer_epoch,
                sequence,
            )
            assert batch.is_transactional
            assert check_crc(data.records, batch)
            assert [record.value for record in decode_records(data.records, batch)] == [bytes(100)]
    elif call.api_key is ApiKey.ADD_PARTITIONS_TO_TXN:
        identity = (
            message.v3_and_below_transactional_id,
            message.v3_and_below_producer_id,
            message.v3_and_below_producer_epoch,
        )
        assert identity == ("load-7", producer_id, producer_epoch)
        assert list(message.v3_and_below_topics[0].partitions) == [4, 5, 9]
    else:
        assert (message.transactional_id, message.producer_id, message.producer_epoch) == (
            "load-7",
            producer_id,
            producer_epoch,
        )


@pytest.mark.parametrize("partitions", [(0,), (4, 5, 9)])
@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call.api_key.name}-{call.version}")
def test_the_error_of_every_partition_is_found(call: Call, partitions: tuple[int, ...]) -> None:
    layout = answer_layout(call, "bench", partitions)
    has_one_each = call.api_key in (ApiKey.ADD_PARTITIONS_TO_TXN, ApiKey.PRODUCE)
    assert len(layout.errors_at) == (len(partitions) if has_one_each else 1)


def test_the_identity_is_found_where_end_txn_returns_one() -> None:
    layout = answer_layout(Call(ApiKey.END_TXN, 5), "bench", (0,))
    answer = encode_response(ApiKey.END_TXN, 5, 9, EndTxnResponse(77, 51, 123_456_789, 42))
    assert unpack_identity(answer, layout.identity_at) == (123_456_789, 42)
    (error_at,) = layout.errors_at
    assert int.from_bytes(answer[error_at : error_at + 2], "big") == 51
    assert answer_layout(Call(ApiKey.END_TXN, 3), "bench", (0,)).identity_at == 0
